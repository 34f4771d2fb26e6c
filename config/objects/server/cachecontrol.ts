import { flag, list, map, object, text } from '../../schema/field.ts';
import { headerValue, token } from '../../schema/format.ts';

/** `server.cachecontrol`. */
export const cachecontrol = object('Cache headers of responses, and conditional requests.', {
  enabled: flag({
    description: 'Sets the headers of nocacheheaders on responses and ignores the request headers of etagheaders.',
    default: true,
  }),
  nocacheheaders: map({
    description:
      'Response headers by name. A route that sets one of them itself keeps its own value, and responses that caches may keep, such as `/.well-known/jwks.json`, get none. Responses that depend on the caller are always private: `Cache-Control` gets `private` if its value lacks it.',
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
    description:
      'Request headers of conditional requests that the server ignores. Without `If-None-Match` here, clients that have the current version get 304 and no body. With `If-Match` here, changes overwrite those of others without notice.',
    items: text({ description: 'Name of a request header.', format: token }),
    default: ['ETag', 'If-Modified-Since', 'If-Unmodified-Since'],
  }),
});
