package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

func send(server server, topic string, first, count int) ([]pulsar.MessageID, error) {
	producer, err := server.client.CreateProducer(pulsar.ProducerOptions{Topic: topic, DisableBatching: true})
	if err != nil {
		return nil, err
	}
	defer producer.Close()
	var ids []pulsar.MessageID
	for i := first; i < first+count; i++ {
		message := &pulsar.ProducerMessage{Payload: fmt.Appendf(nil, "m%d", i), Key: fmt.Sprintf("k%d", i%5)}
		id, err := producer.Send(context.Background(), message)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func subscribe(server server, topic, name string, kind pulsar.SubscriptionType) (pulsar.Consumer, error) {
	return server.client.Subscribe(pulsar.ConsumerOptions{
		Topic: topic, SubscriptionName: "s", Name: name, Type: kind, ReceiverQueueSize: 10,
		SubscriptionInitialPosition: pulsar.SubscriptionPositionEarliest,
	})
}

// rest is what comes until nothing comes for so long; all acknowledged.
func rest(consumer pulsar.Consumer, quiet time.Duration) ([]string, map[string]bool) {
	values, keys := []string{}, map[string]bool{}
	for {
		limit, cancel := context.WithTimeout(context.Background(), quiet)
		message, err := consumer.Receive(limit)
		cancel()
		if err != nil {
			return values, keys
		}
		values = append(values, string(message.Payload()))
		keys[message.Key()] = true
		if err := consumer.Ack(message); err != nil {
			return values, keys
		}
	}
}

func pair(server server, topic string, kind pulsar.SubscriptionType) (pulsar.Consumer, pulsar.Consumer, error) {
	one, err := subscribe(server, topic, "one", kind)
	if err != nil {
		return nil, nil, err
	}
	two, err := subscribe(server, topic, "two", kind)
	return one, two, err
}

func shared(server server, say say) error {
	topic := server.topic("go-shared")
	one, two, err := pair(server, topic, pulsar.Shared)
	if err != nil {
		return err
	}
	defer one.Close()
	defer two.Close()
	if _, err := send(server, topic, 0, 30); err != nil {
		return err
	}
	first, _ := rest(one, time.Second)
	second, _ := rest(two, time.Second)
	all := slices.Concat(first, second)
	slices.Sort(all)
	say("both got some", len(first) > 0 && len(second) > 0)
	say("together each once", len(slices.Compact(all)) == 30 && len(first)+len(second) == 30)
	return nil
}

func keyShared(server server, say say) error {
	topic := server.topic("go-key-shared")
	one, two, err := pair(server, topic, pulsar.KeyShared)
	if err != nil {
		return err
	}
	defer one.Close()
	defer two.Close()
	if _, err := send(server, topic, 0, 30); err != nil {
		return err
	}
	first, keys := rest(one, time.Second)
	second, others := rest(two, time.Second)
	for key := range keys {
		if others[key] {
			say("a key with two consumers", key)
		}
	}
	say("messages", len(first)+len(second))
	return nil
}

func reader(server server, say say) error {
	topic := server.topic("go-reader")
	ids, err := send(server, topic, 0, 5)
	if err != nil {
		return err
	}
	if err := read(server, say, "from the earliest", pulsar.ReaderOptions{Topic: topic, StartMessageID: pulsar.EarliestMessageID()}); err != nil {
		return err
	}
	if err := read(server, say, "after the second", pulsar.ReaderOptions{Topic: topic, StartMessageID: ids[1]}); err != nil {
		return err
	}
	return read(server, say, "from the second",
		pulsar.ReaderOptions{Topic: topic, StartMessageID: ids[1], StartMessageIDInclusive: true})
}

func read(server server, say say, step string, options pulsar.ReaderOptions) error {
	reader, err := server.client.CreateReader(options)
	if err != nil {
		return err
	}
	defer reader.Close()
	values := []string{}
	for reader.HasNext() {
		limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		message, err := reader.Next(limit)
		cancel()
		if err != nil {
			return err
		}
		values = append(values, string(message.Payload()))
	}
	say(step, values)
	return nil
}

func seek(server server, say say) error {
	topic := server.topic("go-seek")
	ids, err := send(server, topic, 0, 3)
	if err != nil {
		return err
	}
	time.Sleep(300 * time.Millisecond)
	between := time.Now()
	time.Sleep(300 * time.Millisecond)
	if _, err := send(server, topic, 3, 3); err != nil {
		return err
	}
	consumer, err := subscribe(server, topic, "c", pulsar.Exclusive)
	if err != nil {
		return err
	}
	defer consumer.Close()
	values, _ := rest(consumer, time.Second)
	say("all", values)
	if err := consumer.Seek(ids[1]); err != nil {
		return err
	}
	values, _ = rest(consumer, time.Second)
	say("by id", values)
	if err := consumer.SeekByTime(between); err != nil {
		return err
	}
	values, _ = rest(consumer, time.Second)
	say("by time", values)
	return nil
}
