import { eventCatalogue } from '#entities/kit/model/event-catalogue.ts';
import type { Registry } from '#entities/kit/model/registry.ts';
import { offeredScopes } from '#entities/kit/model/scopes.ts';
import { listedKinds } from '#entities/kit/read/described-list.ts';
import { jsonValue } from './json-value.ts';
import type { Schema } from './openapi-document.ts';

/** Names of values that several requests have, each a schema of the description: closed lists of words, and JSON. */
export type SharedValue =
  | 'ApiTokenScope'
  | 'PersonalTokenScope'
  | 'EndpointScope'
  | 'EventTopicPattern'
  | 'JsonValue'
  | 'ListedKind';

/** The values; the lists follow from the kinds. */
export function sharedValues(registry: Registry): Readonly<Record<SharedValue, Schema>> {
  const topics = eventCatalogue(registry).flatMap(({ isPublic, topic }) => (isPublic ? [topic] : []));
  const kinds = new Set(topics.map((topic) => `${topic.slice(0, topic.indexOf('.'))}.*`));
  return {
    ApiTokenScope: words(
      'Scope of an API token: a kind and what is allowed with its records.',
      offeredScopes(registry, 'api'),
    ),
    PersonalTokenScope: words(
      'Scope of a personal access token: a kind and what is allowed with its records.',
      offeredScopes(registry, 'personal'),
    ),
    EndpointScope: words(
      'Scope of a webhook endpoint: a kind of records that it receives.',
      offeredScopes(registry, 'endpoint'),
    ),
    EventTopicPattern: words('Type of an event, all types of a kind as `<kind>.*`, or all as `*`.', [
      '*',
      ...kinds,
      ...topics,
    ]),
    JsonValue: jsonValue,
    ListedKind: words(
      'Kind of the records of an organization.',
      listedKinds(registry).map(({ topic }) => topic),
    ),
  };
}

function words(description: string, values: readonly string[]): Schema {
  return { type: 'string', enum: values, description };
}
