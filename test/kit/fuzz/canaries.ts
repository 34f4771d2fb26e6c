/** Words that occur nowhere else, to be looked for in what stays behind. */
export class Canaries {
  readonly #prefix: string;
  readonly #pattern: RegExp;
  /** Name of each canary, for messages. */
  readonly #names = new Map<string, string>();
  readonly #foreign = new Map<string, string>();

  /** @param prefix letters that occur nowhere else */
  constructor(prefix: string) {
    this.#prefix = prefix;
    this.#pattern = new RegExp(`${prefix}-[a-z0-9]*`, 'gi');
  }

  get size(): number {
    return this.#names.size + this.#foreign.size;
  }

  /** A new one, as long as a password has to be: small letters, digits and a hyphen. */
  make(name: string): string {
    const mark = `${this.#prefix}-${String(this.#names.size).padStart(8, '0')}`;
    this.#names.set(mark, name);
    return mark;
  }

  /** One that was made elsewhere. @throws Error when it may occur by chance */
  add(name: string, text: string): string {
    if (text.length < 12) throw new Error(`${name} is too short to be looked for`);
    this.#foreign.set(name, text);
    return text;
  }

  /** The names of those that occur in a text, each once. */
  in(text: string): string[] {
    const made = [...text.matchAll(this.#pattern)].map(([mark]) => this.#names.get(mark.toLowerCase()) ?? mark);
    const foreign = [...this.#foreign].filter(
      ([, mark]) => text.includes(mark) || text.includes(encodeURIComponent(mark)),
    );
    return [...new Set([...made, ...foreign.map(([name]) => name)])];
  }
}
