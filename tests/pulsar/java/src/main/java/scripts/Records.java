package scripts;

import org.apache.pulsar.client.api.Schema;
import org.apache.pulsar.client.api.schema.SchemaDefinition;

/** Classes whose schemas the scripts use: versions of one order, and what does not fit. */
final class Records {
    private Records() {}

    static <T> Schema<T> avro(Class<T> kind) {
        return Schema.AVRO(SchemaDefinition.<T>builder().withPojo(kind).withAlwaysAllowNull(true).build());
    }

    static final class Order {
        public long id;
        public String item;

        Order() {}

        Order(long id, String item) {
            this.id = id;
            this.item = item;
        }

        @Override
        public String toString() {
            return id + "/" + item;
        }
    }

    /** The next version: one optional field more. Nested, because Avro takes the class's simple name for the record's. */
    static final class Second {
        static final class Order {
            public long id;
            public String item;
            public String note;

            Order() {}

            Order(long id, String item, String note) {
                this.id = id;
                this.item = item;
                this.note = note;
            }

            @Override
            public String toString() {
                return id + "/" + item + "/" + note;
            }
        }
    }

    /** The id is a text here: no other version of an order can be read as this one. */
    static final class Foreign {
        static final class Order {
            public String id = "x";
        }
    }
}
