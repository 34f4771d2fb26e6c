const text = { type: 'string' } as const;

/** Headers of answers, as the description of the API has them. */
export const documentedHeaders = {
  'X-Request-Id': {
    description: 'Id of the request, which also stands in logs, events and workflows. Quote it in support requests.',
    schema: text,
  },
  RateLimit: {
    description:
      'Current status of the rate limits, if there are any: of each, by name, the remaining requests (`r`) and the seconds until there are more (`t`).',
    schema: text,
  },
  'RateLimit-Policy': {
    description:
      'The rate limits, if there are any: of each, by name, the requests (`q`) in a window of seconds (`w`).',
    schema: text,
  },
  'Retry-After': {
    description: 'Seconds after which the request can be sent again, where that is known.',
    schema: { type: 'integer' },
  },
  ETag: {
    description: 'Entity tag of the record version or the document, for `If-Match` and `If-None-Match`.',
    schema: text,
  },
  Location: { description: 'URL of the new record, or URL at which to continue.', schema: text },
  'Idempotency-Replayed': {
    description: '`true` if the response is the one to an earlier request with the same `Idempotency-Key`.',
    schema: { type: 'string', enum: ['true'] },
  },
  Deprecation: {
    description: 'Date since which the operation is deprecated: an `@` and the seconds since 1970 (RFC 9745).',
    schema: text,
  },
  Sunset: { description: 'When the operation is going to be removed (RFC 8594).', schema: text },
  Link: {
    description:
      'URL of the explanation of the deprecation (`deprecation`), and of the replacement (`successor-version`).',
    schema: text,
  },
} as const;

export type AnswerHeader = keyof typeof documentedHeaders;

/** Headers of every refusal. */
export const refusalHeaders = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'] as const satisfies AnswerHeader[];

/** Statuses of refusals that can say when to come back: 409 for a request that is under way. */
export const retryStatuses: ReadonlySet<string> = new Set(['409', '429', '503']);
