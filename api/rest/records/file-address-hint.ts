import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { isExposed, readableFields } from '#entities/kit/model/exposure.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { recordNames } from './record-names.ts';

/** Words at the end of a URL with which a file is looked for, besides the name of its field. */
const guesses = new Set(['content', 'document', 'download', 'file']);

/**
 * Says where the file of a record is, for URLs that guess it: the record has its URL, because the bytes have an id of their own.
 * @returns the end of a sentence; undefined for other URLs
 */
export function fileAddressHint(registry: Registry): (path: string) => string | undefined {
  const fields = new Map(
    registry.modules
      .filter(isExposed)
      .flatMap((module) =>
        readableFields(module).flatMap(([name, { type }]) =>
          type === 'file' ? [[recordNames(module).path, snakeCase(name)] as const] : [],
        ),
      ),
  );
  return (path) => {
    const [, list = '', id = '', last = ''] = /^(.+)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    const field = fields.get(list);
    if (field === undefined || !(last === field || guesses.has(last))) return undefined;
    return `GET ${list}/${id} has the URL of the file in ${field}.url, as soon as there is one`;
  };
}
