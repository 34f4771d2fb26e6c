import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'vitest';
import type { Browser } from './browser.ts';
import { eventually } from '../eventually.ts';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Widths of windows in which pages are looked at, in pixels. */
const windowWidths = [1_280, 390] as const;

/** Time in which a page shows its next step, in milliseconds. */
const stepMs = 60_000;

/** Waits until a page shows a step. */
export async function untilStep(page: Browser, name: string): Promise<void> {
  const shown = `document.querySelector('[data-step]:not([hidden])')?.dataset.step`;
  await eventually(async () => (await page.evaluate(shown)) === name, stepMs).catch(async (error: unknown) => {
    const text = await page.evaluate('document.body.innerText');
    throw new Error(`the page does not show ${name} but:\n${text}`, { cause: error });
  });
}

async function setWidth(page: Browser, width: number): Promise<void> {
  await page.send('Emulation.setDeviceMetricsOverride', {
    width,
    height: 844,
    deviceScaleFactor: 1,
    mobile: width < 500,
  });
}

/**
 * Checks every step of a page as if a script had shown it, with a problem: the rules of WCAG 2.2 AA that axe-core can check, nothing wider than
 * the window, and a way on.
 */
export async function checkSteps(page: Browser): Promise<void> {
  await checkAll(
    page,
    `[...document.querySelectorAll('[data-step]')]`,
    `for (const each of step.querySelectorAll('.problem')) { each.hidden = false; each.textContent = 'This did not work.'; }
     for (const each of step.querySelectorAll('[data-fill]')) each.textContent = 'somebody.with.a.long.address@department.example.com';`,
  );
}

/** Checks the step that is shown, with what a script has written into it, by the same rules. */
export async function checkShownStep(page: Browser): Promise<void> {
  await checkAll(page, `[document.querySelector('[data-step]:not([hidden])')]`);
}

async function checkAll(page: Browser, steps: string, prepare = ''): Promise<void> {
  await page.evaluate(axeSource);
  for (const width of windowWidths) {
    await setWidth(page, width);
    const found = await page.evaluate(`(async () => {
      const found = [];
      const steps = ${steps};
      for (const step of steps) {
        for (const each of steps) each.hidden = each !== step;
        ${prepare}
        const { scrollWidth, clientWidth } = document.documentElement;
        if (scrollWidth > clientWidth) found.push([step.dataset.step, 'is wider than the window']);
        const ways = [...step.querySelectorAll('a[href], button')].filter((each) => each.checkVisibility());
        if (step.dataset.step !== 'checking' && ways.length === 0) found.push([step.dataset.step, 'has no way on']);
        if (${width} > 500) continue;
        const { violations } = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] });
        for (const { id, nodes } of violations)
          for (const { html, failureSummary } of nodes) found.push([step.dataset.step, id, html, failureSummary]);
      }
      return found;
    })()`);
    expect(found, `at ${width}`).toEqual([]);
  }
}

/** Checks that the key Tab reaches each control that is shown, in the order of the document. */
export async function checkTabOrder(page: Browser): Promise<void> {
  expect(await tabOrder(page)).toEqual(await page.evaluate(`${controls}.map(nameOf)`));
}

const controls = `
  var nameOf = (each) => each.outerHTML.slice(0, 120);
  [...document.querySelectorAll('a[href], button, input, textarea, [tabindex="0"]')].filter((each) => each.checkVisibility())`;

/** Elements that get the focus when the key Tab is pressed repeatedly, from the beginning of the page. */
async function tabOrder(page: Browser): Promise<string[]> {
  const count = await page.evaluate(`${controls}.length`);
  await page.evaluate(`document.body.tabIndex = -1; document.body.focus(); document.body.removeAttribute('tabindex')`);
  const order: string[] = [];
  for (let pressed = 0; pressed < count; pressed++) {
    await press(page, 'Tab');
    order.push(await page.evaluate(`${controls}; nameOf(document.activeElement)`));
  }
  return order;
}

export async function press(page: Browser, key: 'Tab' | 'Enter'): Promise<void> {
  const code = { Tab: 9, Enter: 13 }[key];
  const common = { key, code: key, windowsVirtualKeyCode: code };
  await page.send('Input.dispatchKeyEvent', { type: 'keyDown', ...common, ...(key === 'Enter' ? { text: '\r' } : {}) });
  await page.send('Input.dispatchKeyEvent', { type: 'keyUp', ...common });
}

/** Types into the field with a label that is shown now. */
export async function type(page: Browser, label: string, text: string): Promise<void> {
  const isFound = await page.evaluate(`{
    const label = [...document.querySelectorAll('label')].find((each) => each.checkVisibility() && each.textContent.startsWith(${JSON.stringify(label)}));
    const field = label && document.getElementById(label.htmlFor);
    field?.focus();
    field?.select();
    field !== undefined && field !== null
  }`);
  expect(isFound, `there is a field ${label}`).toBe(true);
  await page.send('Input.insertText', { text });
}

/** Presses the button, or follows the link, with this text that is shown now. */
export async function choose(page: Browser, text: string): Promise<void> {
  await withWayOn(page, text, 'click');
}

/** Gives the focus to such a button or link. */
export async function focus(page: Browser, text: string): Promise<void> {
  await withWayOn(page, text, 'focus');
}

async function withWayOn(page: Browser, text: string, does: 'click' | 'focus'): Promise<void> {
  const isFound = await page.evaluate(`{
    const found = [...document.querySelectorAll('button, a')].find((each) => each.checkVisibility() && each.textContent.trim() === ${JSON.stringify(text)});
    found?.${does}();
    found !== undefined
  }`);
  expect(isFound, `there is a way on: ${text}`).toBe(true);
}

/** The text that the page shows. */
export async function shownText(page: Browser): Promise<string> {
  return page.evaluate(`document.querySelector('main').innerText`);
}
