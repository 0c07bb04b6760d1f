// @confluentinc/schemaregistry, unmodified: registers, looks up, encodes, decodes and meets a refusal.
// Prints what it saw as one JSON object.

const {
  AvroDeserializer, AvroSerializer, JsonDeserializer, JsonSerializer, ProtobufDeserializer, ProtobufSerializer,
  SchemaRegistryClient, SerdeType,
} = require("@confluentinc/schemaregistry");
const { create } = require("@bufbuild/protobuf");
const { fileDesc, messageDesc } = require("@bufbuild/protobuf/codegenv2");

const url = process.argv[2];
const order = JSON.stringify({ type: "record", name: "Order", fields: [{ name: "id", type: "int" }] });
const broken = JSON.stringify({ type: "record", name: "Order", fields: [{ name: "id", type: "string" }] });
const jsonOrder = JSON.stringify({ title: "Order", type: "object", properties: { id: { type: "integer" } } });

// message Order { int32 id = 1; } in package shop, as the generator of @bufbuild/protobuf writes a descriptor.
const shop = fileDesc("CgpzaG9wLnByb3RvEgRzaG9wIhMKBU9yZGVyEgoKAmlkGAEgASgFYgZwcm90bzM");
const orderMessage = messageDesc(shop, 0);

const fresh = () => new SchemaRegistryClient({ baseURLs: [url], cacheCapacity: 100, cacheLatestTtlSecs: 60 });

async function main() {
  const seen = {};
  const client = fresh();
  seen.id = await client.register("orders-value", { schema: order, schemaType: "AVRO" });
  seen.version = await client.getVersion("orders-value", { schema: order, schemaType: "AVRO" });
  seen.lookedUp = await client.getId("orders-value", { schema: order, schemaType: "AVRO" });
  seen.latest = (await client.getLatestSchemaMetadata("orders-value")).version;
  seen.subjects = await client.getAllSubjects();
  seen.versions = await client.getAllVersions("orders-value");
  seen.compatible = await client.testCompatibility("orders-value", -1, { schema: broken, schemaType: "AVRO" });
  seen.level = await client.updateCompatibility("orders-value", "FULL");
  seen.levelRead = await client.getCompatibility("orders-value");
  try {
    await client.register("orders-value", { schema: broken, schemaType: "AVRO" });
  } catch (error) {
    seen.refused = { status: error.status, code: error.errorCode, message: error.message };
  }

  const avro = new AvroSerializer(client, SerdeType.VALUE, { autoRegisterSchemas: false, useLatestVersion: true });
  const avroBytes = await avro.serialize("orders", { id: 7 });
  seen.avroStart = [...avroBytes.subarray(0, 5)];
  seen.avro = await new AvroDeserializer(fresh(), SerdeType.VALUE, {}).deserialize("orders", avroBytes);

  await client.register("bills-value", { schema: jsonOrder, schemaType: "JSON" });
  const json = new JsonSerializer(client, SerdeType.VALUE, { autoRegisterSchemas: false, useLatestVersion: true });
  const jsonBytes = await json.serialize("bills", { id: 8 });
  seen.json = await new JsonDeserializer(fresh(), SerdeType.VALUE, {}).deserialize("bills", jsonBytes);

  const protobuf = new ProtobufSerializer(client, SerdeType.VALUE, { autoRegisterSchemas: true });
  protobuf.registry.add(orderMessage);
  const protobufBytes = await protobuf.serialize("parcels", create(orderMessage, { id: 9 }));
  const reading = new ProtobufDeserializer(fresh(), SerdeType.VALUE, {});
  seen.protobuf = (await reading.deserialize("parcels", protobufBytes)).id;

  seen.deleted = await client.deleteSubject("orders-value", false);
  seen.gone = await client.deleteSubject("orders-value", true);
  console.log(JSON.stringify(seen));
}

main().catch((error) => { console.error(error); process.exit(1); });
