import { deriveSchema } from '#api/graphql/derived/derive-schema.ts';
import { schemasOf } from '#entities/kit/storage/orm-schema.ts';
import { syntheticRegistry } from '../kit/records/synthetic-kinds.ts';

global.gc?.();
const before = process.memoryUsage().heapUsed;
const startedAt = performance.now();
const registry = syntheticRegistry(110);
const schemas = schemasOf(registry);
const schema = deriveSchema(registry, []);
const tookMs = performance.now() - startedAt;
global.gc?.();
const megabytes = (process.memoryUsage().heapUsed - before) / 1_048_576;
process.send?.({ tookMs, megabytes, kinds: schemas.all.length, types: Object.keys(schema.getTypeMap()).length });
