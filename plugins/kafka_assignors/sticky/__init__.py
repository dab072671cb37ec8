"""The sticky and cooperative-sticky assignors of Java clients, newest and oldest."""
