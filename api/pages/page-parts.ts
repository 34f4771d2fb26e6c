import { html, type Html } from './html.ts';
import type { PageBrand } from './page-brand.ts';
import { pagePaths } from './page-paths.ts';

interface Step {
  /** By which scripts show it. */
  readonly name: string;
  readonly title: string;
  readonly content: Html;
  /** The step that is shown until a script shows another one. */
  readonly isFirst?: true;
}

/** State of a page at one time: its heading gets the focus when it appears. */
export function step({ name, title, content, isFirst }: Step): Html {
  return html`<section data-step="${name}" ${isFirst ? undefined : html` hidden`}>
    <h1 tabindex="-1">${title}</h1>
    ${content}
  </section> `;
}

/** Shown until the script knows which step fits. @param text what it checks */
export function checkingStep(text: string): Html {
  return step({ name: 'checking', title: 'One moment …', content: html`<p>${text}</p>`, isFirst: true });
}

interface FormParts {
  /** By which scripts find it. */
  readonly name: string;
  readonly fields: readonly Html[];
  readonly button: string;
  /** Message of the page when the password or the code of this form is wrong, if it differs from the usual one. */
  readonly wrong?: string;
  /** Below the button: other ways on. */
  readonly others?: readonly Html[];
  /** Where the script of mailed links sends the fields, with the token of the link, and the step that follows. */
  readonly sends?: { readonly to: string; readonly next: string };
}

/** A form with its button; problems of the request appear above the button. */
export function form({ name, fields, button, others = [], sends, wrong }: FormParts): Html {
  const target = sends && html` data-sends="${sends.to}" data-next="${sends.next}"`;
  return html`<form
    data-form="${name}"
    ${target}${wrong === undefined ? undefined : html` data-wrong="${wrong}"`}
    novalidate
  >
    ${fields}
    <p class="problem" role="alert" hidden></p>
    <p><button>${button}</button></p>
    ${others}
  </form> `;
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly type?: 'email' | 'text' | 'password';
  readonly autocomplete: string;
  readonly maxLength?: number;
  readonly hint?: string;
  readonly isOptional?: true;
  /** A field that shows a value of the script (`fill`) and is not sent: programs that keep passwords read the address there. */
  readonly isShown?: true;
  /** Digits: telephones show these keys. */
  readonly isNumeric?: true;
}

/** @param form its name makes ids unique within the page: forms can have fields of the same name */
export function field(form: string, options: Field): Html {
  const { name, label, type = 'text', autocomplete, maxLength = 254, hint } = options;
  const id = `${form}-${name}`;
  const described = hint === undefined ? undefined : html` aria-describedby="${id}-hint"`;
  const input = html`<input
    id="${id}"
    ${options.isShown ? html`data-shows="${name}" readonly` : html`name="${name}"`}
    type="${type}"
    autocomplete="${autocomplete}"
    maxlength="${String(maxLength)}"
    ${described}${options.isOptional || options.isShown ? undefined : html` required`}${options.isNumeric ? html` inputmode="numeric"` : undefined}${type === 'email' ? html` spellcheck="false" autocapitalize="none"` : undefined}
  />`;
  const shown =
    type === 'password'
      ? html`<div class="password">
          ${input}<button type="button" class="plain" data-reveals="${id}" aria-label="Show the password">Show</button>
        </div>`
      : input;
  return html`<div class="field">
    <label for="${id}">${label}${options.isOptional ? html` <small>(optional)</small>` : undefined}</label>
    ${shown} ${hint === undefined ? undefined : html`<small id="${id}-hint" class="hint">${hint}</small>`}
  </div> `;
}

export const passwordHint = 'At least 12 characters, for example four unrelated words.';

const maxPassword = 1_024;

export function passwordField(
  form: string,
  options: Pick<Field, 'label' | 'autocomplete' | 'hint'> & { readonly name?: string },
): Html {
  return field(form, { name: 'password', type: 'password', maxLength: maxPassword, ...options });
}

export function emailField(form: string, options: Partial<Field> = {}): Html {
  return field(form, { name: 'email', label: 'E-mail address', type: 'email', autocomplete: 'username', ...options });
}

/** Fields of a sign-up about a person. */
export function nameFields(form: string): Html[] {
  const common = { maxLength: 64, isOptional: true } as const;
  return [
    field(form, { name: 'first_name', label: 'First name', autocomplete: 'given-name', ...common }),
    field(form, { name: 'last_name', label: 'Last name', autocomplete: 'family-name', ...common }),
  ];
}

/** Changes the page without leaving it. @param does by which scripts find it */
export function action(does: string, text: string): Html {
  return html`<button type="button" class="plain" data-does="${does}">${text}</button>`;
}

/** Shows another step of the page. @param name of the step */
export function toStep(name: string, text: string): Html {
  return html`<button type="button" class="plain" data-does="show-step" data-to="${name}">${text}</button>`;
}

/** A text that a script replaces. */
export function filled(name: string, until = ''): Html {
  return html`<b data-fill="${name}">${until}</b>`;
}

/** Ways on, below the text of a step. */
export function onward(...links: readonly (Html | undefined)[]): Html {
  return html`<ul class="onward">
    ${links.flatMap((each) => (each === undefined ? [] : [html`<li>${each}</li>`]))}
  </ul>`;
}

export function link(url: string, text: string): Html {
  return html`<a href="${url}">${text}</a>`;
}

/** The step that follows next, as a button. */
export function buttonLink(url: string, text: string): Html {
  return html`<a class="button" href="${url}">${text}</a>`;
}

/** Where a person continues: the application, or the sign-in where none is configured. @param text of the button that leads to the latter */
export function toApplication({ application }: PageBrand, text = 'Continue to the sign-in'): Html {
  return application === undefined ? buttonLink(pagePaths.signIn, text) : buttonLink(application.url, application.text);
}
