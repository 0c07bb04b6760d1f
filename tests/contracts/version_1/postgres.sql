CREATE TABLE public.counters (
    name character varying NOT NULL COLLATE pg_catalog."C",
    last bigint NOT NULL
);
CREATE TABLE public.journal (
    id bigint NOT NULL,
    kind character varying NOT NULL,
    namespace character varying COLLATE pg_catalog."C",
    subject character varying COLLATE pg_catalog."C",
    data json NOT NULL,
    principal character varying NOT NULL,
    address character varying,
    at timestamp with time zone NOT NULL
);
CREATE TABLE public.schema_references (
    namespace character varying NOT NULL COLLATE pg_catalog."C",
    schema_id bigint NOT NULL,
    "position" integer NOT NULL,
    name character varying NOT NULL,
    subject character varying NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    target_namespace character varying NOT NULL COLLATE pg_catalog."C",
    target_name character varying NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.schemas (
    namespace character varying NOT NULL COLLATE pg_catalog."C",
    id bigint NOT NULL,
    identity bytea NOT NULL,
    guid uuid NOT NULL,
    type character varying NOT NULL,
    text text NOT NULL,
    metadata text,
    rule_set text,
    properties json NOT NULL
);
CREATE TABLE public.scopes (
    name character varying NOT NULL COLLATE pg_catalog."C"
);
CREATE TABLE public.settings (
    namespace character varying NOT NULL COLLATE pg_catalog."C",
    subject character varying NOT NULL COLLATE pg_catalog."C",
    settings json NOT NULL
);
CREATE TABLE public.subjects (
    id bigint NOT NULL,
    namespace character varying NOT NULL COLLATE pg_catalog."C",
    name character varying NOT NULL COLLATE pg_catalog."C",
    last_version integer DEFAULT 0 NOT NULL,
    live integer DEFAULT 0 NOT NULL,
    deleted integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone NOT NULL,
    modified_at timestamp with time zone NOT NULL,
    about json NOT NULL
);
CREATE SEQUENCE public.subjects_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
ALTER SEQUENCE public.subjects_id_seq OWNED BY public.subjects.id;
CREATE TABLE public.tallystick_schema (
    version integer NOT NULL
);
CREATE TABLE public.versions (
    subject_id bigint NOT NULL,
    version integer NOT NULL,
    namespace character varying NOT NULL COLLATE pg_catalog."C",
    schema_id bigint NOT NULL,
    state character varying NOT NULL,
    created_at timestamp with time zone NOT NULL,
    properties json NOT NULL
);
ALTER TABLE ONLY public.subjects ALTER COLUMN id SET DEFAULT nextval('public.subjects_id_seq'::regclass);
INSERT INTO public.counters VALUES ('public/default', 3);
INSERT INTO public.counters VALUES ('acme/sales', 1);
INSERT INTO public.counters VALUES ('journal', 14);
INSERT INTO public.journal VALUES (1, 'schema.registered', 'public/default', 'orders', '{"version": 1, "id": 1, "guid": "14675a08-d6ae-891b-bb4e-acf68ac3b8a1", "type": "AVRO", "warnings": []}', 'anybody', NULL, '2026-11-15 12:16:31.670266+00');
INSERT INTO public.journal VALUES (2, 'schema.registered', 'public/default', 'moved', '{"version": 1, "id": 1, "guid": "14675a08-d6ae-891b-bb4e-acf68ac3b8a1", "type": "AVRO", "warnings": []}', 'anybody', NULL, '2026-11-15 12:16:31.696143+00');
INSERT INTO public.journal VALUES (3, 'schema.registered', 'public/default', 'moved', '{"version": 2, "id": 2, "guid": "a4603fe7-b08b-82df-aca9-11cac7c49dc7", "type": "JSON_SCHEMA", "warnings": []}', 'anybody', NULL, '2026-11-15 12:16:31.767649+00');
INSERT INTO public.journal VALUES (4, 'version.deleted', 'public/default', 'moved', '{"version": 1, "id": 1}', 'anybody', NULL, '2026-11-15 12:16:31.785833+00');
INSERT INTO public.journal VALUES (5, 'schema.registered', 'public/default', 'gone', '{"version": 1, "id": 2, "guid": "a4603fe7-b08b-82df-aca9-11cac7c49dc7", "type": "JSON_SCHEMA", "warnings": []}', 'anybody', NULL, '2026-11-15 12:16:31.795458+00');
INSERT INTO public.journal VALUES (6, 'subject.deleted', 'public/default', 'gone', '{"versions": [1], "ids": [2]}', 'anybody', NULL, '2026-11-15 12:16:31.807396+00');
INSERT INTO public.journal VALUES (7, 'schema.registered', 'public/default', 'both', '{"version": 1, "id": 1, "guid": "14675a08-d6ae-891b-bb4e-acf68ac3b8a1", "type": "AVRO", "warnings": []}', 'anybody', NULL, '2026-11-15 12:16:31.81984+00');
INSERT INTO public.journal VALUES (8, 'schema.registered', 'public/default', 'both', '{"version": 2, "id": 2, "guid": "a4603fe7-b08b-82df-aca9-11cac7c49dc7", "type": "JSON_SCHEMA", "warnings": []}', 'anybody', NULL, '2026-11-15 12:16:31.8421+00');
INSERT INTO public.journal VALUES (9, 'schema.registered', 'public/default', 'flag', '{"version": 1, "id": 3, "guid": "b60e9fb3-108b-8abc-9111-be0d80eb2b74", "type": "BOOLEAN", "warnings": []}', 'anybody', NULL, '2026-11-15 12:16:31.869164+00');
INSERT INTO public.journal VALUES (10, 'schema.registered', 'public/default', 'buried', '{"version": 1, "id": 1, "guid": "14675a08-d6ae-891b-bb4e-acf68ac3b8a1", "type": "AVRO", "warnings": []}', 'anybody', NULL, '2026-11-15 12:16:31.877866+00');
INSERT INTO public.journal VALUES (11, 'subject.deleted', 'public/default', 'buried', '{"versions": [1], "ids": [1]}', 'anybody', NULL, '2026-11-15 12:16:31.888087+00');
INSERT INTO public.journal VALUES (12, 'subject.described', 'public/default', 'planned', '{"about": {"app": "shop"}}', 'anybody', NULL, '2026-11-15 12:16:31.891747+00');
INSERT INTO public.journal VALUES (13, 'schema.registered', 'acme/sales', 'orders', '{"version": 1, "id": 1, "guid": "a4603fe7-b08b-82df-aca9-11cac7c49dc7", "type": "JSON_SCHEMA", "warnings": []}', 'anybody', NULL, '2026-11-15 12:16:31.904182+00');
INSERT INTO public.journal VALUES (14, 'settings.changed', 'public/default', 'settings-only', '{"namespace": null, "changes": {"normalize": true}}', 'anybody', NULL, '2026-11-15 12:16:31.912821+00');
INSERT INTO public.schemas VALUES ('public/default', 1, '\x14675a08d6aec91b3b4eacf68ac3b8a15f47cd0ddf07ca7cf0fbd0b7a4e4a7ab', '14675a08-d6ae-891b-bb4e-acf68ac3b8a1', 'AVRO', '{"type":"record","name":"Order","fields":[]}', NULL, NULL, '{}');
INSERT INTO public.schemas VALUES ('public/default', 2, '\xa4603fe7b08b42df6ca911cac7c49dc7849dd78a901a966af8d5fbe40cb864a4', 'a4603fe7-b08b-82df-aca9-11cac7c49dc7', 'JSON_SCHEMA', '{"type":"object"}', NULL, NULL, '{}');
INSERT INTO public.schemas VALUES ('public/default', 3, '\xb60e9fb3108bcabcd111be0d80eb2b7401f636706847685ec7b87dcf1e314f96', 'b60e9fb3-108b-8abc-9111-be0d80eb2b74', 'BOOLEAN', '', NULL, NULL, '{}');
INSERT INTO public.schemas VALUES ('acme/sales', 1, '\xa4603fe7b08b42df6ca911cac7c49dc7849dd78a901a966af8d5fbe40cb864a4', 'a4603fe7-b08b-82df-aca9-11cac7c49dc7', 'JSON_SCHEMA', '{"type":"object"}', NULL, NULL, '{}');
INSERT INTO public.scopes VALUES ('');
INSERT INTO public.scopes VALUES ('public/default');
INSERT INTO public.scopes VALUES ('acme/sales');
INSERT INTO public.settings VALUES ('public/default', 'settings-only', '{"normalize": true}');
INSERT INTO public.subjects VALUES (1, 'public/default', 'orders', 1, 1, 0, '2026-11-15 12:16:31.650678+00', '2026-11-15 12:16:31.667843+00', '{}');
INSERT INTO public.subjects VALUES (2, 'public/default', 'moved', 2, 1, 1, '2026-11-15 12:16:31.685723+00', '2026-11-15 12:16:31.782286+00', '{}');
INSERT INTO public.subjects VALUES (3, 'public/default', 'gone', 1, 0, 1, '2026-11-15 12:16:31.7915+00', '2026-11-15 12:16:31.806247+00', '{}');
INSERT INTO public.subjects VALUES (4, 'public/default', 'both', 2, 2, 0, '2026-11-15 12:16:31.815094+00', '2026-11-15 12:16:31.841529+00', '{}');
INSERT INTO public.subjects VALUES (5, 'public/default', 'flag', 1, 1, 0, '2026-11-15 12:16:31.863806+00', '2026-11-15 12:16:31.86864+00', '{}');
INSERT INTO public.subjects VALUES (6, 'public/default', 'buried', 2, 0, 1, '2026-11-15 12:16:31.874345+00', '2026-11-15 12:16:31.887711+00', '{}');
INSERT INTO public.subjects VALUES (7, 'public/default', 'planned', 0, 0, 0, '2026-11-15 12:16:31.890552+00', '2026-11-15 12:16:31.89113+00', '{"description": "", "app": "shop"}');
INSERT INTO public.subjects VALUES (8, 'acme/sales', 'orders', 1, 1, 0, '2026-11-15 12:16:31.896938+00', '2026-11-15 12:16:31.903532+00', '{}');
INSERT INTO public.subjects VALUES (9, 'public/default', 'settings-only', 0, 0, 0, '2026-11-15 12:16:31.907338+00', '2026-11-15 12:16:31.907338+00', '{}');
INSERT INTO public.tallystick_schema VALUES (1);
INSERT INTO public.versions VALUES (1, 1, 'public/default', 1, 'live', '2026-11-15 12:16:31.665636+00', '{}');
INSERT INTO public.versions VALUES (2, 2, 'public/default', 2, 'live', '2026-11-15 12:16:31.766477+00', '{}');
INSERT INTO public.versions VALUES (2, 1, 'public/default', 1, 'deleted', '2026-11-15 12:16:31.689788+00', '{}');
INSERT INTO public.versions VALUES (3, 1, 'public/default', 2, 'deleted', '2026-11-15 12:16:31.794193+00', '{}');
INSERT INTO public.versions VALUES (4, 1, 'public/default', 1, 'live', '2026-11-15 12:16:31.818739+00', '{}');
INSERT INTO public.versions VALUES (4, 2, 'public/default', 2, 'live', '2026-11-15 12:16:31.840865+00', '{}');
INSERT INTO public.versions VALUES (5, 1, 'public/default', 3, 'live', '2026-11-15 12:16:31.868128+00', '{}');
INSERT INTO public.versions VALUES (6, 1, 'public/default', 1, 'deleted', '2026-11-15 12:16:31.876831+00', '{}');
INSERT INTO public.versions VALUES (6, 2, 'public/default', 0, 'tombstone', '2026-11-15 12:16:31.887346+00', '{}');
INSERT INTO public.versions VALUES (8, 1, 'acme/sales', 1, 'live', '2026-11-15 12:16:31.902336+00', '{}');
SELECT pg_catalog.setval('public.subjects_id_seq', 9, true);
ALTER TABLE ONLY public.counters
    ADD CONSTRAINT counters_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.journal
    ADD CONSTRAINT journal_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.schema_references
    ADD CONSTRAINT schema_references_pkey PRIMARY KEY (namespace, schema_id, "position");
ALTER TABLE ONLY public.schemas
    ADD CONSTRAINT schemas_namespace_identity_key UNIQUE (namespace, identity);
ALTER TABLE ONLY public.schemas
    ADD CONSTRAINT schemas_pkey PRIMARY KEY (namespace, id);
ALTER TABLE ONLY public.scopes
    ADD CONSTRAINT scopes_pkey PRIMARY KEY (name);
ALTER TABLE ONLY public.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (namespace, subject);
ALTER TABLE ONLY public.subjects
    ADD CONSTRAINT subjects_namespace_name_key UNIQUE (namespace, name);
ALTER TABLE ONLY public.subjects
    ADD CONSTRAINT subjects_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.versions
    ADD CONSTRAINT versions_pkey PRIMARY KEY (subject_id, version);
CREATE INDEX ix_schemas_guid ON public.schemas USING btree (guid);
CREATE INDEX references_to ON public.schema_references USING btree (target_namespace, target_name, version);
CREATE INDEX versions_of_schema ON public.versions USING btree (namespace, schema_id);
ALTER TABLE ONLY public.versions
    ADD CONSTRAINT versions_subject_id_fkey FOREIGN KEY (subject_id) REFERENCES public.subjects(id);
