import { readFileSync } from 'node:fs';
import { ConfigurationError } from '#config/schema/config-problem.ts';
import { extensionOf } from '#entities/kit/base/file-name.ts';

/** Types of files by the extensions of their names. */
const builtIn: Readonly<Record<string, string>> = {
  'application/gzip': 'gz tgz',
  'application/json': 'json map',
  'application/msword': 'doc',
  'application/pdf': 'pdf',
  'application/rtf': 'rtf',
  'application/sql': 'sql',
  'application/toml': 'toml',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.oasis.opendocument.presentation': 'odp',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.rar': 'rar',
  'application/x-7z-compressed': '7z',
  'application/x-msdownload': 'exe dll',
  'application/x-ndjson': 'ndjson jsonl',
  'application/x-sh': 'sh bash',
  'application/x-tar': 'tar',
  'application/xhtml+xml': 'xhtml xht',
  'application/xml': 'xml xsd xsl',
  'application/yaml': 'yaml yml',
  'application/zip': 'zip',
  'audio/mpeg': 'mp3',
  'image/avif': 'avif',
  'image/bmp': 'bmp',
  'image/gif': 'gif',
  'image/heic': 'heic',
  'image/jpeg': 'jpg jpeg jpe',
  'image/png': 'png',
  'image/svg+xml': 'svg',
  'image/tiff': 'tif tiff',
  'image/webp': 'webp',
  'image/x-icon': 'ico',
  'text/calendar': 'ics',
  'text/css': 'css',
  'text/csv': 'csv',
  'text/html': 'html htm shtml',
  'text/javascript': 'js mjs cjs',
  'text/markdown': 'md markdown',
  'text/plain': 'txt text log conf ini',
  'text/tab-separated-values': 'tsv',
  'text/vcard': 'vcf',
  'text/vtt': 'vtt',
  'video/mp4': 'mp4 m4v',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
};

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
  readonly #byExtension: ReadonlyMap<string, string>;
  readonly #settings: () => MimeSettings;

  /** @throws ConfigurationError for a file that cannot be read */
  constructor(settings: () => MimeSettings) {
    const { mimetypesfile } = settings();
    const lines = Object.entries(builtIn).map(([type, extensions]) => `${type} ${extensions}`);
    this.#byExtension = new Map([...lines, ...linesOf(mimetypesfile)].flatMap(extensionsOf));
    this.#settings = settings;
  }

  /** The type that a name stands for; undefined for an unknown extension, and while `server.mime.enabled` is off. */
  ofName(name: string): string | undefined {
    return this.#settings().enabled ? this.#byExtension.get(extensionOf(name)) : undefined;
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
