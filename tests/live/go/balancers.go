// Balancers of kafka-go behind the replay format: a JSON case a line in, an answer a line out.
//
// An answer lists, for each topic, all assignments that were seen in RUNS runs (an argument): kafka-go follows the
// random order of Go's maps, and no topic depends on another.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strconv"

	kafka "github.com/segmentio/kafka-go"
)

type topic struct {
	Topic       string   `json:"topic"`
	N           int      `json:"n"`
	LeaderRacks []string `json:"leaderRacks"`
}

type member struct {
	ID     string   `json:"id"`
	Topics []string `json:"topics"`
	Rack   string   `json:"rack"`
}

type asked struct {
	ID       string `json:"id"`
	Strategy string `json:"strategy"`
	Input    struct {
		Topics  []topic  `json:"topics"`
		Members []member `json:"members"`
	} `json:"input"`
}

var balancers = map[string]kafka.GroupBalancer{
	"client_range":         kafka.RangeGroupBalancer{},
	"client_roundrobin":    kafka.RoundRobinGroupBalancer{},
	"client_rack_affinity": kafka.RackAffinityGroupBalancer{},
}

func main() {
	runs, failure := strconv.Atoi(os.Args[1])
	if failure != nil {
		panic(failure)
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, failure := in.ReadBytes('\n')
		if failure != nil {
			return
		}
		var given asked
		if failure := json.Unmarshal(line, &given); failure != nil {
			panic(failure)
		}
		answer, _ := json.Marshal(map[string]any{"id": given.ID, "seen": seen(given, runs)})
		os.Stdout.Write(append(answer, '\n'))
	}
}

func seen(given asked, runs int) map[string][]map[string][]int {
	var members []kafka.GroupMember
	for _, one := range given.Input.Members {
		members = append(members, kafka.GroupMember{ID: one.ID, Topics: one.Topics, UserData: []byte(one.Rack)})
	}
	var partitions []kafka.Partition
	found := map[string][]map[string][]int{}
	known := map[string]bool{}
	for _, one := range given.Input.Topics {
		found[one.Topic] = []map[string][]int{}
		for number := 0; number < one.N; number++ {
			partition := kafka.Partition{Topic: one.Topic, ID: number}
			if number < len(one.LeaderRacks) {
				partition.Leader.Rack = one.LeaderRacks[number]
			}
			partitions = append(partitions, partition)
		}
	}
	for run := 0; run < runs; run++ {
		byTopic := map[string]map[string][]int{}
		for id, topics := range balancers[given.Strategy].AssignGroups(members, partitions) {
			for name, numbers := range topics {
				if byTopic[name] == nil {
					byTopic[name] = map[string][]int{}
				}
				if len(numbers) > 0 {
					byTopic[name][id] = numbers
				}
			}
		}
		for name := range found {
			if byTopic[name] == nil {
				byTopic[name] = map[string][]int{}
			}
			written, _ := json.Marshal(byTopic[name])
			if !known[name+string(written)] {
				known[name+string(written)] = true
				found[name] = append(found[name], byTopic[name])
			}
		}
	}
	return found
}
