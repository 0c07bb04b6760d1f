package scripts;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.pulsar.client.api.EncodeData;
import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.common.schema.SchemaInfo;
import org.apache.pulsar.common.schema.SchemaType;

/** Texts "id:value" whose schema lives elsewhere: the id travels beside the value. */
final class ExternalTexts implements Schema<String> {
    @Override
    public byte[] encode(String text) {
        return text.substring(text.indexOf(':') + 1).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public EncodeData encode(String topic, String text) {
        byte[] id = text.substring(0, text.indexOf(':')).getBytes(StandardCharsets.UTF_8);
        return new EncodeData(encode(text), id);
    }

    @Override
    public String decode(byte[] data) {
        return new String(data, StandardCharsets.UTF_8);
    }

    @Override
    public String decode(String topic, byte[] data, byte[] schemaId) {
        return (schemaId == null ? "none" : new String(schemaId, StandardCharsets.UTF_8)) + ":" + decode(data);
    }

    @Override
    public String decode(String topic, ByteBuffer data, byte[] schemaId) {
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        return decode(topic, bytes, schemaId);
    }

    @Override
    public SchemaInfo getSchemaInfo() {
        return SchemaInfo.builder().name("texts").type(SchemaType.EXTERNAL).schema(new byte[0]).build();
    }

    @Override
    public Schema<String> clone() {
        return this;
    }
}
