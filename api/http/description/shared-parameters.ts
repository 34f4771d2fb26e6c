import { pascalCase } from '#entities/kit/base/snake-case.ts';
import {
  mapOperations,
  type Operation,
  type OpenApiDocument,
  type Parameter,
  type Reference,
} from './openapi-document.ts';

interface Use {
  readonly parameter: Parameter;
  readonly tags: Set<string>;
  count: number;
}

/**
 * Moves parameters that several operations have into the components. One that belongs to the operations of one tag is called by the tag
 * and its name; others by their name alone, the most frequent one if there are several of one name.
 */
export function withSharedParameters(document: OpenApiDocument): OpenApiDocument {
  const names = namesOf(usesIn(document));
  const parameters: Record<string, Parameter> = {};
  const paths = mapOperations(document.paths, (operation) => {
    if (!operation.parameters) return operation;
    const shared = operation.parameters.map((parameter): Parameter | Reference => {
      const name = names.get(JSON.stringify(parameter));
      if (name === undefined || '$ref' in parameter) return parameter;
      parameters[name] = parameter;
      return { $ref: `#/components/parameters/${name}` };
    });
    return { ...operation, parameters: shared };
  });
  const sorted = Object.fromEntries(Object.entries(parameters).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return { ...document, paths, components: { ...document.components, parameters: sorted } };
}

function usesIn(document: OpenApiDocument): ReadonlyMap<string, Use> {
  const uses = new Map<string, Use>();
  const note = ({ parameters = [], tags = [] }: Operation) => {
    for (const parameter of parameters) {
      if ('$ref' in parameter) continue;
      const text = JSON.stringify(parameter);
      const use = uses.get(text) ?? { parameter, tags: new Set<string>(), count: 0 };
      use.count += 1;
      for (const tag of tags) use.tags.add(tag);
      uses.set(text, use);
    }
  };
  for (const methods of Object.values(document.paths ?? {})) for (const each of Object.values(methods)) note(each);
  return uses;
}

/** The names of the shared parameters, by the text of the parameter. */
function namesOf(uses: ReadonlyMap<string, Use>): ReadonlyMap<string, string> {
  const byFrequency = [...uses].filter(([, { count }]) => count > 1).toSorted(([, a], [, b]) => b.count - a.count);
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const [text, { parameter, tags }] of byFrequency) {
    const [tag = ''] = tags;
    const place = parameter.in === 'path' ? 'InPath' : '';
    const name = `${tags.size > 1 ? '' : pascalCase(tag)}${pascalCase(parameter.name)}${place}`;
    if (taken.has(name)) continue;
    taken.add(name);
    names.set(text, name);
  }
  return names;
}
