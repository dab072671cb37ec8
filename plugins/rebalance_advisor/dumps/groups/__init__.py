"""What `kafka-consumer-groups.sh` prints, in all its columns."""
