-- A plan may say that too little of the cluster was seen: "nothing to do" is no word for dead or silent brokers.

ALTER TABLE store.plan DROP CONSTRAINT plan_verdict_known;
ALTER TABLE store.plan ADD CONSTRAINT plan_verdict_known
    CHECK (verdict IN ('rebalance', 'nothing_to_do', 'cannot_tell', 'infeasible', 'not_fixable_by_moving'));
