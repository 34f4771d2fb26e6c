import { extensionOf } from '#entities/kit/base/file-name.ts';

/** Type of the compound files in which Office stored documents until 2007. */
export const compoundFile = 'application/x-cfb';

const pdf = ['.pdf', 'application/pdf'] as const;
const docx = ['.docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'] as const;
const xlsx = ['.xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'] as const;
const pptx = ['.pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'] as const;

type Format = readonly [extension: string, type: string];

/** File name extensions with which programs save such files, the best first. */
const better: Readonly<Record<string, readonly Format[]>> = {
  doc: [docx, pdf],
  dot: [docx, pdf],
  xls: [xlsx, ['.csv', 'text/csv'], pdf],
  xlt: [xlsx, ['.csv', 'text/csv'], pdf],
  ppt: [pptx, pdf],
  pps: [pptx, pdf],
  msg: [pdf, ['.txt', 'text/plain']],
};

/** Advice for a file of an old format of Office. @returns undefined where nothing helps */
export function oldOfficeAdvice(name: string, allowed: readonly string[] | undefined): string | undefined {
  const formats = (better[extensionOf(name)] ?? [docx, xlsx, pptx, pdf]).filter(
    ([, type]) => allowed?.includes(type) ?? true,
  );
  if (formats.length === 0) return undefined;
  const extensions = formats.map(([extension]) => extension);
  const what = extensionOf(name) === 'msg' ? 'Outlook' : 'Office';
  return `It has a format of ${what} that is not accepted; open it there and save it as ${extensions.join(' or ')}.`;
}

/** Whether a name stands for such a file. */
export function isOldOfficeName(name: string): boolean {
  return Object.hasOwn(better, extensionOf(name));
}
