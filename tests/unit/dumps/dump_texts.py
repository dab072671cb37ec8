"""A small cluster as the tools of Kafka 4.3 print it; each test changes one thing."""

# The tools pad their columns: lines are long, and blanks at their ends are part of them.
# ruff: noqa: E501, W291

from __future__ import annotations

TOPICS = (
    "[2026-11-20 06:00:00,123] WARN [AdminClient clientId=adminclient-1] something harmless (org.apache.kafka.X)\n"
    "Topic: orders\tTopicId: QmLwMsncTBWiSn2HoB0Kqg\tPartitionCount: 2\tReplicationFactor: 2\t"
    "Configs: retention.ms=60000,cleanup.policy=compact,delete\n"
    "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 2,1\tElr: \tLastKnownElr: \n"
    "\tTopic: orders\tPartition: 1\tLeader: 2\tReplicas: 3,2\tIsr: 2\tElr: N/A\tLastKnownElr: N/A\n"
    "Topic: audit-log\tTopicId: TBl1pe7mRXG6FoA4rxf1tg\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \n"
    "\tTopic: audit-log\tPartition: 0\tLeader: none\tReplicas: 9\tIsr: 9\tElr: \tLastKnownElr: \n"
)

LOG_DIRS = """Querying brokers for log directories information
Received log directory information from brokers 1,2,3
{"version":1,"brokers":[
 {"broker":1,"logDirs":[{"logDir":"/data/a","error":null,"partitions":[
   {"partition":"orders-0","size":1000,"offsetLag":0,"isFuture":false}]}]},
 {"broker":2,"logDirs":[{"logDir":"/data/a","error":null,"partitions":[
   {"partition":"orders-0","size":999,"offsetLag":0,"isFuture":false},
   {"partition":"orders-1","size":500,"offsetLag":0,"isFuture":false}]},
  {"logDir":"/data/b","error":null,"partitions":[
   {"partition":"orders-1","size":120,"offsetLag":380,"isFuture":true}]}]},
 {"broker":3,"logDirs":[{"logDir":"/data/a","error":"org.apache.kafka.common.errors.KafkaStorageException",
   "partitions":[]}]}]}
"""

LATEST = "audit-log:0:70\norders:0:100\norders:1:40\n"
EARLIEST = "audit-log:0:70\norders:0:10\norders:1:0\n"

OFFSETS = """
GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID
billing         orders          0          90              100             10              c-1             /127.0.0.1      my client
billing         orders          1          -               40              -               c-2             /127.0.0.1      my client
billing         -               -          -               -               -               c-3             /127.0.0.1      my client


Consumer group 'nightly' has no active members.

GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID
nightly         audit-log       0          7               70              63              -               -               -
"""

MEMBERS = """
GROUP           CONSUMER-ID     GROUP-INSTANCE-ID HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT   
billing         c-2                               /127.0.0.1      my client       1               -               orders:1             -               -                   
billing         c-1             pod-1             /127.0.0.1      my client       1               -               orders:0             -               -                   
billing         c-3                               /127.0.0.1      my client       0               -               -                    -               -                   

Consumer group 'nightly' has no active members.
"""

MEMBERS_3_6 = """
GROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT
billing         c-1             /127.0.0.1      cli             3               orders(0,10,2)
billing         c-2             /127.0.0.1      cli             2               audit-log(0), orders(1)
"""
MEMBERS_3_9 = """
GROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT
billing         c-1             /127.0.0.1      cli             1               (0)
billing         c-2             /127.0.0.1      cli             1               (1)
billing         c-3             /127.0.0.1      cli             0               -
"""
EPOCHS = """
GROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT   
orders-app      m1              /10.0.0.1       cli-1           3               5               a:1;orders:0,2       7               orders:0,1          
"""

STATE = """
GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS
billing         h1.example:9092  (1)      range                Stable               3

GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS
nightly         h2.example:9092  (2)      -                    Empty                0
"""

BROKERS = "id,rack,host\n1,a,h1.example\n2,b,h2.example\n3,a,h3.example\n"

DUMPS = {
    "topics.txt": TOPICS,
    "log-dirs.txt": LOG_DIRS,
    "latest.txt": LATEST,
    "earliest.txt": EARLIEST,
    "offsets.txt": OFFSETS,
    "members.txt": MEMBERS,
    "state.txt": STATE,
    "brokers.csv": BROKERS,
    "captured_at": "2026-11-20T06:00:00Z\n",
}


def write_folder(folder, dumps=None, **changed):
    """Write ``dumps``; a keyword replaces the file whose name begins so, ``None`` leaves it out."""
    files = dict(DUMPS if dumps is None else dumps)
    for key, text in changed.items():
        name = next(name for name in files if name.replace("-", "_").startswith(key))
        files[name] = text
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        if text is not None:
            (folder / name).write_text(text)
    return folder
