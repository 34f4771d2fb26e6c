import type { FileRule } from './accepted-types.ts';
import type { EntityModule } from '../define.ts';
import { isExposed, writableFields } from '../exposure.ts';
import type { Registry } from '../registry.ts';
import { onceForEach } from '../../base/once-for-each.ts';
import { snakeCase } from '../../base/snake-case.ts';

/** The file field for which an upload is meant: what it accepts applies before the first byte. */
export interface UploadPurpose {
  /** Kind and field, such as `user.avatar`. */
  readonly name: string;
  readonly rule: FileRule;
}

/** The purpose of uploads for a field; undefined for one that holds no file. */
export function purposeOf(module: EntityModule, field: string): UploadPurpose | undefined {
  const rule = module.fields[field]?.file;
  return rule && { name: `${module.topic}.${snakeCase(field)}`, rule };
}

/** Every purpose, by its name: the file fields that callers can set. */
export const uploadPurposes = onceForEach(({ modules }: Registry): ReadonlyMap<string, UploadPurpose> => {
  const purposes = modules
    .filter(isExposed)
    .flatMap((module) => writableFields(module).flatMap(([field]) => purposeOf(module, field) ?? []));
  return new Map(purposes.map((purpose) => [purpose.name, purpose]));
});
