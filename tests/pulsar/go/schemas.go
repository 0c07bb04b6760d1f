package main

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

type order struct {
	ID   int64  `json:"id" avro:"id"`
	Item string `json:"item" avro:"item"`
}

const orderText = `{"type":"record","name":"Order","fields":[
	{"name":"id","type":"long"},{"name":"item","type":"string"}]}`

const foreignText = `{"type":"record","name":"Order","fields":[{"name":"id","type":"string"}]}`

func avro(server server, say say) error {
	schema, err := pulsar.NewAvroSchemaWithValidation(orderText, nil)
	if err != nil {
		return err
	}
	return orders(server, say, "go-avro", schema)
}

func asJSON(server server, say say) error {
	schema, err := pulsar.NewJSONSchemaWithValidation(orderText, nil)
	if err != nil {
		return err
	}
	return orders(server, say, "go-json", schema)
}

func orders(server server, say say, name string, schema pulsar.Schema) error {
	topic := server.topic(name)
	consumer, err := server.client.Subscribe(pulsar.ConsumerOptions{Topic: topic, SubscriptionName: "s", Schema: schema})
	if err != nil {
		return err
	}
	defer consumer.Close()
	producer, err := server.client.CreateProducer(pulsar.ProducerOptions{Topic: topic, Schema: schema})
	if err != nil {
		return err
	}
	defer producer.Close()
	for i := range 3 {
		message := &pulsar.ProducerMessage{Value: order{int64(i), "item"}, Key: "k", Properties: map[string]string{"n": "v"}}
		if _, err := producer.Send(context.Background(), message); err != nil {
			return err
		}
	}
	for range 3 {
		message, err := next(consumer)
		if err != nil {
			return err
		}
		var value order
		if err := message.GetSchemaValue(&value); err != nil {
			return err
		}
		say("message", []any{value, message.Key(), message.Properties(), binary.BigEndian.Uint64(message.SchemaVersion())})
		if err := consumer.Ack(message); err != nil {
			return err
		}
	}
	return nil
}

func next(consumer pulsar.Consumer) (pulsar.Message, error) {
	limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return consumer.Receive(limit)
}

func refusals(server server, say say) error {
	topic := server.topic("go-refusals")
	fitting, err := pulsar.NewAvroSchemaWithValidation(orderText, nil)
	if err != nil {
		return err
	}
	foreign, err := pulsar.NewAvroSchemaWithValidation(foreignText, nil)
	if err != nil {
		return err
	}
	producer, err := server.client.CreateProducer(pulsar.ProducerOptions{Topic: topic, Schema: fitting})
	if err != nil {
		return err
	}
	defer producer.Close()
	say("a producer that does not fit", produced(server.client.CreateProducer(pulsar.ProducerOptions{Topic: topic, Schema: foreign})))
	_, err = server.client.Subscribe(pulsar.ConsumerOptions{Topic: topic, SubscriptionName: "s", Schema: foreign})
	if err == nil {
		say("a consumer that does not fit", "let in")
	} else {
		say("a consumer that does not fit", failure(err))
	}
	return nil
}

func produced(producer pulsar.Producer, err error) any {
	if err != nil {
		return failure(err)
	}
	producer.Close()
	return "let in"
}
