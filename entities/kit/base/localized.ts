/** How somebody reads dates and numbers. */
export interface Locale {
  /** Language, and region if it matters (BCP 47). */
  readonly language: string;
  /** Name in the IANA database. */
  readonly timeZone: string;
}

/** For whoever has said nothing about it. */
export const usualLocale: Locale = { language: 'en', timeZone: 'UTC' };

/** A day and a time of day, with the zone: `June 1, 2026 at 5:00 PM GMT+2`. A language that is not known is written as English. */
export function localInstant(at: Date, { language, timeZone }: Locale): string {
  return new Intl.DateTimeFormat([language, 'en'], {
    timeZone: knownTimeZone(timeZone),
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(at);
}

/** UTC instead of a name that this server does not know: what people are to learn does not depend on it. */
function knownTimeZone(timeZone: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions();
    return timeZone;
  } catch (error) {
    if (error instanceof RangeError) return usualLocale.timeZone;
    throw error;
  }
}

/** `1,200` */
export function localNumber(number: number, { language }: Pick<Locale, 'language'>): string {
  return new Intl.NumberFormat([language, 'en']).format(number);
}
