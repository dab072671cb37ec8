-- Replicas that copy without being needed in the ISR (Confluent's observers): they take disk and lead nothing.

ALTER TABLE store.partition ADD COLUMN observers integer[];
