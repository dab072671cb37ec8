"""A client's properties, TLS and SASL, and connections that are tried before they are used."""
