import type { Answering } from '../http-fake.ts';

/**
 * Treatment of a request that a provider does not answer: `limit` asks for a pause of 7 seconds, `fail` is a 500, `silent` and `cut` are those of
 * connections, `half` ends in the middle of the body, `page` is a web page with status 200, `huge` has 500 MB, `redirect` leads elsewhere.
 */
export type Misbehaviour = 'limit' | 'fail' | 'silent' | 'cut' | 'half' | 'page' | 'huge' | 'redirect';

export const misbehaviours: readonly Misbehaviour[] = [
  'limit',
  'fail',
  'silent',
  'cut',
  'half',
  'page',
  'huge',
  'redirect',
];

const megabyte = 'x'.repeat(1_000_000);

const html = '<!doctype html><html><body>Welcome</body></html>';

/** The answer of a fake that does not do its work. @param elsewhere URL to which a redirect leads */
export function misbehave(misbehaviour: Misbehaviour, elsewhere: string): Answering {
  switch (misbehaviour) {
    case 'limit':
      return { status: 429, body: { error: { code: 'TooManyRequests' } }, headers: { 'retry-after': '7' } };
    case 'fail':
      return { status: 500, body: null, text: html, headers: { 'content-type': 'text/html' } };
    case 'half':
      return { status: 200, body: { value: [{ id: 'half of it' }] }, isHalf: true };
    case 'page':
      return { status: 200, body: null, text: html, headers: { 'content-type': 'text/html' } };
    case 'huge':
      return { status: 200, body: null, text: megabyte, repeats: 500 };
    case 'redirect':
      return { status: 302, body: null, text: '', headers: { location: elsewhere } };
    case 'cut':
    case 'silent':
      return misbehaviour;
    default:
      misbehaviour satisfies never;
      throw new TypeError('unknown misbehaviour');
  }
}
