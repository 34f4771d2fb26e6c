import { testSecrets } from '../../setup/secrets.ts';

/** Stored secrets of every installation. */
const stored = [...Object.values(testSecrets), String.raw`\$argon2id\$`, 'BEGIN [A-Z ]*PRIVATE KEY'];
/** Signed tokens and tokens of programs, which answers give and log lines do not have. */
const given = [String.raw`eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}`, String.raw`(core|pat)_[0-9A-Z]{26}_[\w-]{20}`];

const inAnswers = new RegExp(stored.join('|'));
const inLogs = new RegExp([...stored, ...given].join('|'));

/** The first stored secret in an answer: no answer has one, not even to the person it belongs to. */
export const secretInAnswer = (text: string): string | undefined => inAnswers.exec(text)?.[0];

/** The first secret of any sort in a log line. */
export const secretInLog = (line: string): string | undefined => inLogs.exec(line)?.[0];
