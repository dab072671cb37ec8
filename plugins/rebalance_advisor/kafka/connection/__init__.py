"""Client properties, TLS and SASL, and a probe of the connection."""
