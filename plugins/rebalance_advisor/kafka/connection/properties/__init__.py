"""Client properties files and what they lead to: key stores, JAAS entries, PEM in one line."""
