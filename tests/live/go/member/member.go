// A member of a consumer group by kafka-go: `member BOOTSTRAP GROUP STRATEGY RACK TOPIC...`.
//
// It writes what it reads, a line of JSON ([[topic, partition], ...]) at each change, and leaves at the end of its input.
package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	kafka "github.com/segmentio/kafka-go"
)

func main() {
	balancers := map[string]kafka.GroupBalancer{
		"range":         kafka.RangeGroupBalancer{},
		"roundrobin":    kafka.RoundRobinGroupBalancer{},
		"rack-affinity": kafka.RackAffinityGroupBalancer{Rack: os.Args[4]},
	}
	group, failure := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		Brokers: strings.Split(os.Args[1], ","), ID: os.Args[2], Topics: os.Args[5:],
		GroupBalancers:    []kafka.GroupBalancer{balancers[os.Args[3]]},
		HeartbeatInterval: 500 * time.Millisecond, SessionTimeout: 45 * time.Second,
	})
	if failure != nil {
		panic(failure)
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		group.Close()
	}()
	for {
		generation, failure := group.Next(context.Background())
		if failure == kafka.ErrGroupClosed {
			group.Close() // returns once the member has left
			return
		}
		if failure != nil { // of one round: it joins again by itself
			os.Stderr.WriteString(failure.Error() + "\n")
			continue
		}
		held := [][2]any{}
		begin := map[string]map[int]int64{}
		for topic, assigned := range generation.Assignments {
			begin[topic] = map[int]int64{}
			for _, partition := range assigned {
				held = append(held, [2]any{topic, partition.ID})
				begin[topic][partition.ID] = 0
			}
		}
		if failure := generation.CommitOffsets(begin); failure != nil {
			os.Stderr.WriteString(failure.Error() + "\n")
		}
		tell(held)
		generation.Start(func(ended context.Context) {
			<-ended.Done()
			tell([][2]any{})
		})
	}
}

func tell(held [][2]any) {
	line, _ := json.Marshal(held)
	os.Stdout.Write(append(line, '\n'))
}
