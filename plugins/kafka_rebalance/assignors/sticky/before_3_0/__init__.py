"""The sticky assignors of Kafka's Java client 2.3 to 2.8.2."""
