import { escapeHtml } from '#entities/kit/base/escape-html.ts';

/** A piece of HTML: what was text before is escaped in it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | readonly Part[] | undefined;

/** HTML with values: texts are escaped, pieces of HTML and lists of both stand as they are, `undefined` is left out. */
export function html(texts: TemplateStringsArray, ...values: readonly Part[]): Html {
  return new Html(texts.map((text, at) => text + (at < values.length ? rendered(values[at]) : '')).join(''));
}

function rendered(value: Part): string {
  if (value === undefined) return '';
  if (value instanceof Html) return value.text;
  return typeof value === 'string' ? escapeHtml(value) : value.map(rendered).join('');
}
