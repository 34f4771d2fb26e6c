import { flag, list, map, object, text } from '../schema/field.ts';
import { headerValue, token } from '../schema/format.ts';

/** `server.cachecontrol`. */
export const cachecontrol = object('Cache headers of responses.', {
  enabled: flag({
    description: 'Sets the headers of nocacheheaders on every response and ignores the request headers of etagheaders.',
    default: true,
  }),
  nocacheheaders: map({
    description: 'Response headers by name. A route that sets one of them itself keeps its own value.',
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
    description: 'Request headers of conditional requests that the server ignores, so that every response is complete.',
    items: text({ description: 'Name of a request header.', format: token }),
    default: ['ETag', 'If-Modified-Since', 'If-Match', 'If-None-Match', 'If-Range', 'If-Unmodified-Since'],
  }),
});
