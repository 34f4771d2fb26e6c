/** A request that is hidden in another one: whoever reads the length of that one differently takes it for the next request. */
export const hidden = 'GET /test/hidden HTTP/1.1\r\nHost: x\r\n\r\n';

/** Bytes that two readers of HTTP can take for different requests. */
export interface SmugglingCase {
  readonly name: string;
  /** The rule, or the public collection of such bytes that has the case. */
  readonly source: string;
  readonly bytes: string;
  /** `refused`: 400 and the end of the connection; `one`: it is one request with one meaning, and the answer belongs to it. */
  readonly expected: 'refused' | 'one';
}

const post = (headers: string, body: string) => `POST /test/body HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`;
const length = (value: string) => post(`Content-Length: ${value}`, hidden);
const chunked = (body: string, header = 'Transfer-Encoding: chunked') => post(header, body);
const last = '0\r\n\r\n';
/** The hidden request as one chunk. */
const asChunk = `${hidden.length.toString(16)}\r\n${hidden}\r\n${last}`;
const both = `Content-Length: ${last.length}`;

type Row = readonly [name: string, bytes: string, expected?: 'one'];

/** Rows of one source; refused unless they say otherwise. */
function from(source: string, rows: readonly Row[]): SmugglingCase[] {
  return rows.map(([name, bytes, expected]): SmugglingCase => {
    return { name, source, bytes, expected: expected ?? 'refused' };
  });
}

/** The cases, written after the collections that are named. */
export const smugglingCases: readonly SmugglingCase[] = [
  ...from('RFC 9112, section 6.3, and PortSwigger, HTTP Desync Attacks', [
    [
      'CL.TE',
      chunked(`${last}${hidden}`, `Content-Length: ${last.length + hidden.length}\r\nTransfer-Encoding: chunked`),
    ],
    ['TE.CL', chunked(asChunk, 'Transfer-Encoding: chunked\r\nContent-Length: 4')],
    ['TE.TE, the second unknown', chunked(asChunk, 'Transfer-Encoding: chunked\r\nTransfer-Encoding: x')],
    ['TE.TE, the first unknown', chunked(`${last}${hidden}`, 'Transfer-Encoding: x\r\nTransfer-Encoding: chunked')],
    ['xchunked', chunked(`${last}${hidden}`, `${both}\r\nTransfer-Encoding: xchunked`)],
    ['a space before the colon', chunked(`${last}${hidden}`, `${both}\r\nTransfer-Encoding : chunked`)],
    ['a vertical tab before the value', chunked(`${last}${hidden}`, `${both}\r\nTransfer-Encoding:\x0bchunked`)],
    ['a tab before the value, and a length', chunked(`${last}${hidden}`, `${both}\r\nTransfer-Encoding:\tchunked`)],
    ['the header on a folded line', chunked(`${last}${hidden}`, `${both}\r\nX: x\r\n Transfer-Encoding: chunked`)],
    ['the value on a folded line', chunked(`${last}${hidden}`, `${both}\r\nTransfer-Encoding:\r\n chunked`)],
    ['the header behind a bare LF', chunked(`${last}${hidden}`, `${both}\r\nX: x\nTransfer-Encoding: chunked`)],
    ['the header behind a bare CR', chunked(`${last}${hidden}`, `${both}\r\nX: x\rTransfer-Encoding: chunked`)],
    ['the value in quotes', chunked(`${last}${hidden}`, `${both}\r\nTransfer-Encoding: "chunked"`)],
    ['NUL in the name', chunked(`${last}${hidden}`, `${both}\r\nTransfer\0-Encoding: chunked`)],
    [
      'CL.0: a body where none is expected',
      `GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
      'one',
    ],
    ['0.CL: an empty length before a right one', post(`Content-Length:\r\nContent-Length: ${hidden.length}`, hidden)],
    [
      'HTTP/1.0 with chunks',
      `POST /test/body HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${asChunk}`,
      'one',
    ],
    [
      'HTTP/1.0 with chunks, kept alive',
      `POST /test/body HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n${asChunk}`,
      'one',
    ],
  ]),
  ...from('llhttp, test/request/content-length.md', [
    ['zeroes before the length', length(`00${hidden.length}`), 'one'],
    ['spaces around the length', length(`  ${hidden.length}  `), 'one'],
    ['a length above 64 bits', length('1000000000000000000000')],
    ['two lengths', post(`Content-Length: 1\r\nContent-Length: ${hidden.length}`, hidden)],
    ['the same length twice', post(`Content-Length: ${hidden.length}\r\nContent-Length: ${hidden.length}`, hidden)],
    ['a space in the length', length('4 2')],
    ['an empty length', length('')],
    ['CR in place of the hyphen', post(`Content\rLength: ${hidden.length}`, hidden)],
    ['identity and a length', post('Content-Length: 1\r\nTransfer-Encoding: identity', hidden)],
  ]),
  ...from('http-garden, TROPHIES.md', [
    ['a sign before the length', length(`+${hidden.length}`)],
    ['a negative length', length('-1')],
    ['a hexadecimal length', length('0x10')],
    ['an underscore in the length', length('1_0')],
    ['two lengths with a comma', length(`0, ${hidden.length}`)],
    ['the same length with a comma', length(`${hidden.length}, ${hidden.length}`)],
    ['a decimal point', length('1.0')],
    ['an exponent', length('1e1')],
    ['a vertical tab before the length', length(`\x0b${hidden.length}`)],
    ['NUL behind the length', length(`${hidden.length}\0`)],
    ['a no-break space behind the length', length(`${hidden.length}\xa0`)],
  ]),
  ...from('llhttp, test/request/transfer-encoding.md', [
    ['an empty coding and a length', post(`Transfer-Encoding:\r\nContent-Length: ${hidden.length}`, hidden)],
    ['pigeons', chunked(asChunk, 'Transfer-Encoding: pigeons')],
    ['chunked before another coding', chunked(asChunk, 'Transfer-Encoding: chunked, deflate')],
    ['no semicolon before an extension', chunked(`2 x\r\naa\r\n${last}`)],
    ['nothing behind a semicolon', chunked(`2;\r\naa\r\n${last}`)],
    ['an extension whose quotes do not end', chunked(`2;a="b\r\naa\r\n${last}`)],
    ['extensions', chunked(`2;a="b;c";d=e\r\naa\r\n${last}`), 'one'],
    ['zeroes before the last size', chunked('2\r\naa\r\n000\r\n\r\n'), 'one'],
    ['fields behind the last chunk', chunked('2\r\naa\r\n0\r\nVary: *\r\nContent-Type: text/plain\r\n\r\n'), 'one'],
    ['capital letters in the size', chunked(`A\r\n0123456789\r\n${last}`), 'one'],
  ]),
  ...from('http-garden, TROPHIES.md: chunks', [
    ['a size of two parts', chunked(`0_2e\r\n\r\n${hidden}${last}`)],
    ['chunked twice', chunked(`1\r\nZ\r\n${last}`, 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked')],
    ['no-break spaces around the coding', chunked(last, 'Transfer-Encoding: \xa0chunked\xa0')],
    ['a space before the colon of the length', post(`Content-Length : ${hidden.length}`, hidden)],
    ['a tab before the first header', `GET /livez HTTP/1.1\r\n\tContent-Length: 1\r\nHost: x\r\n\r\nX`],
    ['noise behind the method', 'G=":<>(e),[T];?" /livez HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['CR in the version', 'GET /livez HTTP/\r\r1.1\r\nHost: x\r\n\r\n'],
    ['a byte of no ASCII in a name', 'GET /livez HTTP/1.1\r\nHost: x\r\n\xeffoo: bar\r\n\r\n'],
    ['LF in the request line', 'GET /livez\nHTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an exclamation mark for an address', 'GET ! HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a size with 0x', chunked(`0x2\r\naa\r\n${last}`)],
    ['a size with a sign', chunked(`+2\r\naa\r\n${last}`)],
    ['a negative size', chunked(`-2\r\naa\r\n${last}`)],
    ['a size with an underscore', chunked(`1_0\r\n${'a'.repeat(16)}\r\n${last}`)],
    ['a space before the size', chunked(` 2\r\naa\r\n${last}`)],
    ['a size above 64 bits', chunked(`10000000000000002\r\naa\r\n${last}`)],
    ['no size', chunked(`\r\n${hidden}`)],
    ['LF behind the size', chunked(`2\naa\r\n${last}`)],
    ['CR behind the size', chunked(`2\raa\r\n${last}`)],
    ['LF behind the bytes', chunked(`2\r\naa\n${last}`)],
    ['nothing behind the bytes', chunked(`2\r\naa${last}`)],
    ['more bytes than the size', chunked(`2\r\naaa\r\n${last}`)],
    ['LF in an extension', chunked(`2;a\nb\r\naa\r\n${last}`)],
    ['CR in an extension', chunked(`2;a\rb\r\naa\r\n${last}`)],
    ['NUL in an extension', chunked(`2;\0\r\naa\r\n${last}`)],
    ['a length behind the last chunk', chunked(`2\r\naa\r\n0\r\nContent-Length: ${hidden.length}\r\n\r\n`)],
    ['a coding behind the last chunk', chunked('2\r\naa\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n')],
    ['half a chunk, and the end', chunked('ff\r\naa')],
  ]),
  ...from('llhttp, test/request/invalid.md', [
    ['headers separated by CR', `GET /livez HTTP/1.1\r\nHost: x\r\nFoo: 1\rBar: 2\r\n\r\n`],
    [
      'headers separated by LF',
      `POST /test/body HTTP/1.1\r\nHost: x\r\nx:x\nTransfer-Encoding: chunked\r\n\r\n${asChunk}`,
    ],
    [
      'an empty header and CR',
      `POST /test/body HTTP/1.1\r\nHost: x\r\nx:\rTransfer-Encoding: chunked\r\n\r\n${asChunk}`,
    ],
    [
      'an empty header and LF',
      `POST /test/body HTTP/1.1\r\nHost: x\r\nx:\nTransfer-Encoding: chunked\r\n\r\n${asChunk}`,
    ],
    ['CR and something in place of the empty line', `GET /livez HTTP/1.1\r\nHost: x\r\n\rZ${hidden}`],
    ['@ in a name', 'GET /livez HTTP/1.1\r\nHost: x\r\nFo@: x\r\n\r\n'],
    ['a control character in a name', 'GET /livez HTTP/1.1\r\nHost: x\r\nFo\x01o: x\r\n\r\n'],
    ['a folded name', 'GET /livez HTTP/1.1\r\nHost: x\r\nname\r\n : value\r\n\r\n'],
    ['a space behind the request line', 'GET /livez HTTP/1.1\r\n Host: x\r\n\r\n'],
    [
      'a length behind a space',
      `POST /test/body HTTP/1.1\r\nHost: x\r\nFoo: bar\r\n Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
    ],
    ['only LF', `POST /test/body HTTP/1.1\nHost: x\nContent-Length: ${hidden.length}\n\n${hidden}`],
    [
      'LF before a length',
      `GET /livez HTTP/1.1\r\nHost: x\r\nDummy: x\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    ],
    ['ICE/1.0', 'GET /livez ICE/1.0\r\nHost: x\r\n\r\n'],
    ['RTSP/1.0', 'PUT /livez RTSP/1.0\r\nHost: x\r\n\r\n'],
    ['a method of RTSP', 'ANNOUNCE /livez HTTP/1.0\r\nHost: x\r\n\r\n'],
    ['no space behind the method', 'MKCOLA /livez HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['HTTP/5.6', 'GET /livez HTTP/5.6\r\nHost: x\r\n\r\n'],
  ]),
  ...from('RFC 9112, sections 2.2, 3 and 5', [
    ['HTTP/0.9', 'GET /livez\r\n\r\n'],
    ['small letters in the version', 'GET /livez http/1.1\r\nHost: x\r\n\r\n'],
    ['a version of two digits', 'GET /livez HTTP/1.10\r\nHost: x\r\n\r\n'],
    ['small letters in the method', 'get /livez HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a tab in the request line', 'GET\t/livez\tHTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a space in the address', 'GET /livez /test/hidden HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['empty lines before the request', '\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 'one'],
    ['two hosts', 'GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n'],
    ['a line without a colon', 'GET /livez HTTP/1.1\r\nHost: x\r\nFoo\r\n\r\n'],
    ['NUL in a value', 'GET /livez HTTP/1.1\r\nHost: x\r\nFoo: a\0b\r\n\r\n'],
    ['something behind Connection: close', `GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n${hidden}`],
    [
      'an upgrade with a body',
      post(`Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: ${hidden.length}`, hidden),
      'one',
    ],
  ]),
];
