import { readFileSync } from 'node:fs';
import mime from 'mime';
import { ConfigurationError } from '#config/schema/config-problem.ts';
import { extensionOf } from '#entities/kit/base/file-name.ts';

/**
 * Types that the extension of a name stands for, as the package `mime` lists them. It knows many more: a text named `main.c` or a key named
 * `private.key` would contradict its name, or be of no type that a field accepts.
 */
const named: ReadonlySet<string> = new Set(
  `application/gzip application/json application/pdf application/rtf application/sql application/toml
   application/vnd.oasis.opendocument.presentation application/vnd.oasis.opendocument.spreadsheet application/vnd.oasis.opendocument.text
   application/vnd.openxmlformats-officedocument.presentationml.presentation
   application/vnd.openxmlformats-officedocument.spreadsheetml.sheet
   application/vnd.openxmlformats-officedocument.wordprocessingml.document application/vnd.rar application/x-7z-compressed
   application/x-sh application/x-tar application/xhtml+xml application/xml application/yaml application/zip audio/mpeg image/avif
   image/bmp image/gif image/heic image/jpeg image/png image/svg+xml image/tiff image/webp image/x-icon text/calendar text/css text/csv
   text/html text/javascript text/markdown text/tab-separated-values text/vcard text/vtt video/mp4 video/quicktime
   video/webm`.split(/\s+/),
);

/**
 * Extensions that the package does not know, or gives to other types, or to one type with others that are also those of texts. It gives
 * `in`, `list` and `def` to plain text, although binary files have them, too.
 */
const ownExtensions = [
  'application/gzip tgz svgz',
  'application/msword doc',
  'application/vnd.ms-excel xls',
  'application/vnd.ms-powerpoint ppt',
  'application/x-msdownload exe dll',
  'application/x-ndjson ndjson jsonl',
  'application/x-sh bash',
  'text/javascript cjs',
  'text/plain txt text log conf ini',
  'video/mp4 m4v',
];

/** Names that clients give to types which we call otherwise. */
const otherNames: Readonly<Record<string, string>> = {
  'application/csv': 'text/csv',
  'application/javascript': 'text/javascript',
  'application/x-gzip': 'application/gzip',
  'application/x-pdf': 'application/pdf',
  'application/x-rar-compressed': 'application/vnd.rar',
  'application/x-rtf': 'application/rtf',
  'application/x-yaml': 'application/yaml',
  'application/x-zip': 'application/zip',
  'application/x-zip-compressed': 'application/zip',
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/vnd.microsoft.icon': 'image/x-icon',
  'text/json': 'application/json',
  'text/rtf': 'application/rtf',
  'text/x-markdown': 'text/markdown',
  'text/x-vcard': 'text/vcard',
  'text/x-yaml': 'application/yaml',
  'text/xml': 'application/xml',
  'text/yaml': 'application/yaml',
};

/** `server.mime`. */
export interface MimeSettings {
  readonly enabled: boolean;
  readonly mimetypesfile: string;
  readonly defaultcontenttype: string;
}

/** Which types files have by their names: those built in, and those of `server.mime.mimetypesfile`, which is read at the start. */
export class FileTypes {
  /** Types that the package lacks. */
  readonly #byExtension: ReadonlyMap<string, string>;
  readonly #settings: () => MimeSettings;

  /** @throws ConfigurationError for a file that cannot be read */
  constructor(settings: () => MimeSettings) {
    const { mimetypesfile } = settings();
    this.#byExtension = new Map([...ownExtensions, ...linesOf(mimetypesfile)].flatMap(extensionsOf));
    this.#settings = settings;
  }

  /** The type that a name stands for; undefined for an unknown extension, and while `server.mime.enabled` is off. */
  ofName(name: string): string | undefined {
    if (!this.#settings().enabled) return undefined;
    const extension = extensionOf(name);
    const type = usualType(mime.getType(extension) ?? '');
    return this.#byExtension.get(extension) ?? (named.has(type) ? type : undefined);
  }

  /** Type of what is neither text nor of a known type. */
  get ofUnknown(): string {
    return this.#settings().defaultcontenttype;
  }
}

/** A type as we call it: without parameters, in lower case, under its usual name. */
export function usualType(type: string): string {
  const plain = (type.split(';', 1)[0] ?? '').trim().toLowerCase();
  return otherNames[plain] ?? plain;
}

function linesOf(file: string): string[] {
  if (file === '') return [];
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/u);
  } catch (error) {
    const reason = `cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`;
    const remedy = 'name a file of lines such as "text/x-log log", or set it to an empty text';
    throw new ConfigurationError([{ path: 'server.mime.mimetypesfile', where: '', reason, remedy }]);
  }
}

function extensionsOf(line: string): (readonly [string, string])[] {
  const [type = '', ...extensions] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/u);
  return extensions.map((extension) => [extension.toLowerCase().replace(/^\./u, ''), usualType(type)]);
}
