"""Client properties, TLS, SASL and a probe."""
