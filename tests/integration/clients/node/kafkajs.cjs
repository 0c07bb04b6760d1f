// @kafkajs/confluent-schema-registry, unmodified: registers, looks up, encodes, decodes and meets a refusal.
// Prints what it saw as one JSON object.

const { SchemaRegistry, SchemaType } = require("@kafkajs/confluent-schema-registry");

const url = process.argv[2];
const order = JSON.stringify({ type: "record", name: "Order", namespace: "shop", fields: [{ name: "id", type: "int" }] });
const broken = JSON.stringify({ type: "record", name: "Order", namespace: "shop", fields: [{ name: "id", type: "string" }] });
const fresh = () => new SchemaRegistry({ host: url });

async function main() {
  const seen = {};
  const registry = fresh();
  const avro = { type: SchemaType.AVRO, schema: order };
  seen.id = (await registry.register(avro, { subject: "orders-value" })).id;
  seen.again = (await registry.register(avro, { subject: "orders-value" })).id;
  seen.lookedUp = await registry.getRegistryIdBySchema("orders-value", avro);
  seen.latest = await registry.getLatestSchemaId("orders-value");
  seen.byVersion = await registry.getRegistryId("orders-value", 1);
  const bytes = await registry.encode(seen.id, { id: 7 });
  seen.start = [...bytes.subarray(0, 5)];
  seen.avro = await fresh().decode(bytes);
  try {
    await registry.register({ type: SchemaType.AVRO, schema: broken }, { subject: "orders-value" });
  } catch (error) {
    seen.refused = { name: error.name, message: error.message };
  }
  try {
    await fresh().decode(Buffer.from([0, 0, 0, 0, 99, 2]));
  } catch (error) {
    seen.unknown = { name: error.name, status: error.status, message: error.message };
  }

  const json = JSON.stringify({ title: "Order", type: "object", properties: { id: { type: "integer" } } });
  const { id: jsonId } = await registry.register({ type: SchemaType.JSON, schema: json }, { subject: "bills-value" });
  seen.json = await fresh().decode(await registry.encode(jsonId, { id: 8 }));

  const proto = 'syntax = "proto3"; package shop; message Order { int32 id = 1; }';
  const { id: protoId } = await registry.register({ type: SchemaType.PROTOBUF, schema: proto }, { subject: "parcels-value" });
  seen.protobuf = (await fresh().decode(await registry.encode(protoId, { id: 9 }))).id;
  console.log(JSON.stringify(seen));
}

main().catch((error) => { console.error(error); process.exit(1); });
