import { flag, list, map, object, text } from '../schema/field.ts';
import { headerValue, token } from '../schema/format.ts';

/** `server.cachecontrol` (specification: Server, Cache control). */
export const cachecontrol = object('Keeps answers out of caches.', {
  enabled: flag({ description: 'Sets nocacheheaders on every answer and ignores etagheaders.', default: true }),
  nocacheheaders: map({
    description: 'Headers set on every answer unless the route sets its own, by name.',
    keyLabel: 'header name',
    keyFormat: token,
    values: text({ description: 'Value of the header.', format: headerValue }),
    default: {
      'Cache-Control': 'no-cache, private, max-age=0',
      Expires: 'Thu, 01 Jan 1970 00:00:00 GMT',
      Pragma: 'no-cache',
      'X-Accel-Expires': '0',
    },
  }),
  etagheaders: list({
    description: 'Request headers of conditional requests that are ignored, so that every answer is a full one.',
    items: text({ description: 'Name of a request header.', format: token }),
    default: ['ETag', 'If-Modified-Since', 'If-Match', 'If-None-Match', 'If-Range', 'If-Unmodified-Since'],
  }),
});
