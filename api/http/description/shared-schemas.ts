import { mapParts, type Schema } from './openapi-document.ts';

/** A title that is the name of a schema, not a text for people. */
const componentName = /^[A-Z][A-Za-z0-9]*$/;

/**
 * Schemas with names, each of which stands in a description once: a schema is called by its `title`, and every place where it stands gets
 * a reference to it.
 */
export class SharedSchemas {
  readonly #texts = new Map<string, string>();
  readonly #schemas = new Map<string, Schema>();

  /** The schemas by name, in the order of the names. */
  get all(): Readonly<Record<string, Schema>> {
    return Object.fromEntries([...this.#schemas].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }

  /**
   * The schema with references in place of what has a name.
   * @param fallback name of the schema, if it has none and is an object
   * @throws TypeError when two schemas have the same name
   */
  share(schema: Schema, fallback?: string): Schema {
    const { title, description, ...keywords } = schema;
    const rest = { ...(description === undefined ? {} : { description }), ...keywords };
    const isObject = [schema.type].flat().includes('object');
    const name = title !== undefined && componentName.test(title) ? title : isObject ? fallback : undefined;
    const shared = mapParts(name === undefined ? schema : rest, (part) => this.share(part));
    if (name === undefined) return shared;
    const text = JSON.stringify(shared);
    const before = this.#texts.get(name);
    if (before !== undefined && before !== text)
      throw new TypeError(`two schemas have the title "${name}", which names one:\n${before}\n${text}`);
    this.#texts.set(name, text);
    this.#schemas.set(name, shared);
    return { $ref: `#/components/schemas/${name}` };
  }
}
