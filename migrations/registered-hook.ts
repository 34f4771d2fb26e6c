import type { Config } from '#config/objects/root.ts';
import type { SchemaHook } from '#entities/kit/storage/schema-hook.ts';
import { secondDatabaseSchema } from '#entities/kit/storage/second/second-database-schema.ts';

export const schemaHook: SchemaHook<Config['db']> = secondDatabaseSchema;
