BEGIN TRANSACTION;
CREATE TABLE counters (
	name VARCHAR NOT NULL,
	last BIGINT NOT NULL,
	PRIMARY KEY (name)
);
INSERT INTO "counters" VALUES('public/default',3);
INSERT INTO "counters" VALUES('journal',14);
INSERT INTO "counters" VALUES('acme/sales',1);
CREATE TABLE journal (
	id BIGINT NOT NULL,
	kind VARCHAR NOT NULL,
	namespace VARCHAR,
	subject VARCHAR,
	data JSON NOT NULL,
	principal VARCHAR NOT NULL,
	address VARCHAR,
	at DATETIME NOT NULL,
	PRIMARY KEY (id)
);
INSERT INTO "journal" VALUES(1,'schema.registered','public/default','orders','{"version": 1, "id": 1, "guid": "14675a08-d6ae-891b-bb4e-acf68ac3b8a1", "type": "AVRO", "warnings": []}','anybody',NULL,'2026-11-15 12:16:29.119498');
INSERT INTO "journal" VALUES(2,'schema.registered','public/default','moved','{"version": 1, "id": 1, "guid": "14675a08-d6ae-891b-bb4e-acf68ac3b8a1", "type": "AVRO", "warnings": []}','anybody',NULL,'2026-11-15 12:16:29.176641');
INSERT INTO "journal" VALUES(3,'schema.registered','public/default','moved','{"version": 2, "id": 2, "guid": "a4603fe7-b08b-82df-aca9-11cac7c49dc7", "type": "JSON_SCHEMA", "warnings": []}','anybody',NULL,'2026-11-15 12:16:29.347711');
INSERT INTO "journal" VALUES(4,'version.deleted','public/default','moved','{"version": 1, "id": 1}','anybody',NULL,'2026-11-15 12:16:29.359118');
INSERT INTO "journal" VALUES(5,'schema.registered','public/default','gone','{"version": 1, "id": 2, "guid": "a4603fe7-b08b-82df-aca9-11cac7c49dc7", "type": "JSON_SCHEMA", "warnings": []}','anybody',NULL,'2026-11-15 12:16:29.398507');
INSERT INTO "journal" VALUES(6,'subject.deleted','public/default','gone','{"versions": [1], "ids": [2]}','anybody',NULL,'2026-11-15 12:16:29.405588');
INSERT INTO "journal" VALUES(7,'schema.registered','public/default','both','{"version": 1, "id": 1, "guid": "14675a08-d6ae-891b-bb4e-acf68ac3b8a1", "type": "AVRO", "warnings": []}','anybody',NULL,'2026-11-15 12:16:29.409027');
INSERT INTO "journal" VALUES(8,'schema.registered','public/default','both','{"version": 2, "id": 2, "guid": "a4603fe7-b08b-82df-aca9-11cac7c49dc7", "type": "JSON_SCHEMA", "warnings": []}','anybody',NULL,'2026-11-15 12:16:29.415549');
INSERT INTO "journal" VALUES(9,'schema.registered','public/default','flag','{"version": 1, "id": 3, "guid": "b60e9fb3-108b-8abc-9111-be0d80eb2b74", "type": "BOOLEAN", "warnings": []}','anybody',NULL,'2026-11-15 12:16:29.434950');
INSERT INTO "journal" VALUES(10,'schema.registered','public/default','buried','{"version": 1, "id": 1, "guid": "14675a08-d6ae-891b-bb4e-acf68ac3b8a1", "type": "AVRO", "warnings": []}','anybody',NULL,'2026-11-15 12:16:29.442839');
INSERT INTO "journal" VALUES(11,'subject.deleted','public/default','buried','{"versions": [1], "ids": [1]}','anybody',NULL,'2026-11-15 12:16:29.447671');
INSERT INTO "journal" VALUES(12,'subject.described','public/default','planned','{"about": {"app": "shop"}}','anybody',NULL,'2026-11-15 12:16:29.449707');
INSERT INTO "journal" VALUES(13,'schema.registered','acme/sales','orders','{"version": 1, "id": 1, "guid": "a4603fe7-b08b-82df-aca9-11cac7c49dc7", "type": "JSON_SCHEMA", "warnings": []}','anybody',NULL,'2026-11-15 12:16:29.452528');
INSERT INTO "journal" VALUES(14,'settings.changed','public/default','settings-only','{"namespace": null, "changes": {"normalize": true}}','anybody',NULL,'2026-11-15 12:16:29.457492');
CREATE TABLE schema_references (
	namespace VARCHAR NOT NULL,
	schema_id BIGINT NOT NULL,
	position INTEGER NOT NULL,
	name VARCHAR NOT NULL,
	subject VARCHAR NOT NULL,
	version INTEGER NOT NULL,
	target_namespace VARCHAR NOT NULL,
	target_name VARCHAR NOT NULL,
	PRIMARY KEY (namespace, schema_id, position)
);
CREATE TABLE schemas (
	namespace VARCHAR NOT NULL,
	id BIGINT NOT NULL,
	identity BLOB NOT NULL,
	guid CHAR(32) NOT NULL,
	type VARCHAR NOT NULL,
	text TEXT NOT NULL,
	metadata TEXT,
	rule_set TEXT,
	properties JSON NOT NULL,
	PRIMARY KEY (namespace, id),
	UNIQUE (namespace, identity)
);
INSERT INTO "schemas" VALUES('public/default',1,X'14675A08D6AEC91B3B4EACF68AC3B8A15F47CD0DDF07CA7CF0FBD0B7A4E4A7AB','14675a08d6ae891bbb4eacf68ac3b8a1','AVRO','{"type":"record","name":"Order","fields":[]}',NULL,NULL,'{}');
INSERT INTO "schemas" VALUES('public/default',2,X'A4603FE7B08B42DF6CA911CAC7C49DC7849DD78A901A966AF8D5FBE40CB864A4','a4603fe7b08b82dfaca911cac7c49dc7','JSON_SCHEMA','{"type":"object"}',NULL,NULL,'{}');
INSERT INTO "schemas" VALUES('public/default',3,X'B60E9FB3108BCABCD111BE0D80EB2B7401F636706847685EC7B87DCF1E314F96','b60e9fb3108b8abc9111be0d80eb2b74','BOOLEAN','',NULL,NULL,'{}');
INSERT INTO "schemas" VALUES('acme/sales',1,X'A4603FE7B08B42DF6CA911CAC7C49DC7849DD78A901A966AF8D5FBE40CB864A4','a4603fe7b08b82dfaca911cac7c49dc7','JSON_SCHEMA','{"type":"object"}',NULL,NULL,'{}');
CREATE TABLE scopes (
	name VARCHAR NOT NULL,
	PRIMARY KEY (name)
);
CREATE TABLE settings (
	namespace VARCHAR NOT NULL,
	subject VARCHAR NOT NULL,
	settings JSON NOT NULL,
	PRIMARY KEY (namespace, subject)
);
INSERT INTO "settings" VALUES('public/default','settings-only','{"normalize": true}');
CREATE TABLE subjects (
	id INTEGER NOT NULL,
	namespace VARCHAR NOT NULL,
	name VARCHAR NOT NULL,
	last_version INTEGER DEFAULT '0' NOT NULL,
	live INTEGER DEFAULT '0' NOT NULL,
	deleted INTEGER DEFAULT '0' NOT NULL,
	created_at DATETIME NOT NULL,
	modified_at DATETIME NOT NULL,
	about JSON NOT NULL,
	PRIMARY KEY (id),
	UNIQUE (namespace, name)
);
INSERT INTO "subjects" VALUES(1,'public/default','orders',1,1,0,'2026-11-15 12:16:29.093108','2026-11-15 12:16:29.118161','{}');
INSERT INTO "subjects" VALUES(2,'public/default','moved',2,1,1,'2026-11-15 12:16:29.176084','2026-11-15 12:16:29.356108','{}');
INSERT INTO "subjects" VALUES(3,'public/default','gone',1,0,1,'2026-11-15 12:16:29.397965','2026-11-15 12:16:29.404266','{}');
INSERT INTO "subjects" VALUES(4,'public/default','both',2,2,0,'2026-11-15 12:16:29.408024','2026-11-15 12:16:29.415500','{}');
INSERT INTO "subjects" VALUES(5,'public/default','flag',1,1,0,'2026-11-15 12:16:29.434358','2026-11-15 12:16:29.434893','{}');
INSERT INTO "subjects" VALUES(6,'public/default','buried',2,0,1,'2026-11-15 12:16:29.441796','2026-11-15 12:16:29.447599','{}');
INSERT INTO "subjects" VALUES(7,'public/default','planned',0,0,0,'2026-11-15 12:16:29.448960','2026-11-15 12:16:29.449160','{"description": "", "app": "shop"}');
INSERT INTO "subjects" VALUES(8,'acme/sales','orders',1,1,0,'2026-11-15 12:16:29.451780','2026-11-15 12:16:29.452475','{}');
INSERT INTO "subjects" VALUES(9,'public/default','settings-only',0,0,0,'2026-11-15 12:16:29.454674','2026-11-15 12:16:29.454674','{}');
CREATE TABLE tallystick_schema (
	version INTEGER NOT NULL
);
INSERT INTO "tallystick_schema" VALUES(1);
CREATE TABLE versions (
	subject_id INTEGER NOT NULL,
	version INTEGER NOT NULL,
	namespace VARCHAR NOT NULL,
	schema_id BIGINT NOT NULL,
	state VARCHAR NOT NULL,
	created_at DATETIME NOT NULL,
	properties JSON NOT NULL,
	PRIMARY KEY (subject_id, version),
	FOREIGN KEY(subject_id) REFERENCES subjects (id)
);
INSERT INTO "versions" VALUES(1,1,'public/default',1,'live','2026-11-15 12:16:29.117311','{}');
INSERT INTO "versions" VALUES(2,1,'public/default',1,'deleted','2026-11-15 12:16:29.176444','{}');
INSERT INTO "versions" VALUES(2,2,'public/default',2,'live','2026-11-15 12:16:29.347522','{}');
INSERT INTO "versions" VALUES(3,1,'public/default',2,'deleted','2026-11-15 12:16:29.398359','{}');
INSERT INTO "versions" VALUES(4,1,'public/default',1,'live','2026-11-15 12:16:29.408792','{}');
INSERT INTO "versions" VALUES(4,2,'public/default',2,'live','2026-11-15 12:16:29.415403','{}');
INSERT INTO "versions" VALUES(5,1,'public/default',3,'live','2026-11-15 12:16:29.434822','{}');
INSERT INTO "versions" VALUES(6,1,'public/default',1,'deleted','2026-11-15 12:16:29.442498','{}');
INSERT INTO "versions" VALUES(6,2,'public/default',0,'tombstone','2026-11-15 12:16:29.447469','{}');
INSERT INTO "versions" VALUES(8,1,'acme/sales',1,'live','2026-11-15 12:16:29.452408','{}');
CREATE INDEX ix_schemas_guid ON schemas (guid);
CREATE INDEX references_to ON schema_references (target_namespace, target_name, version);
CREATE INDEX versions_of_schema ON versions (namespace, schema_id);
COMMIT;
