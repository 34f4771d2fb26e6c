import { createHash } from 'node:crypto';
import { session } from '#entities/identity/session.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';

/** Milliseconds in which repeated sign-ins, of programs that keep no cookies for example, cause one mail. */
const dayMs = 86_400_000;

export const newDeviceMail = defineMail('new-device', {
  follows: [on(session, 'begun_on_new_device')],
  audience: ({ event: { payload, occurredAt } }) => {
    const { userId, userAgent, address } = payload;
    const day = Math.floor(occurredAt.getTime() / dayMs);
    const device = createHash('sha256').update(`${address} ${userAgent}`).digest('hex').slice(0, 16);
    return [
      {
        key: `${userId}/new-device/${device}/${day}`,
        userId,
        device: { userAgent, address, at: occurredAt.toISOString() },
      },
    ];
  },
  values: async ({ input: { device }, instant }) =>
    device && {
      device: productsOf(device.userAgent),
      address: device.address,
      at: await instant(new Date(device.at)),
    },
  text: ({ device, address, at }) => ({
    subject: 'New sign-in to your account',
    paragraphs: [
      'Somebody signed in to your account with a browser or program that was not used for it before.',
      `Device: ${device}. Network address: ${address}. Time: ${at}.`,
      'If this was not you, change your password immediately. This signs out all other devices.',
    ],
  }),
  sample: { device: 'Firefox/128.0', address: '192.0.2.1', at: sample.until },
});

/** The products that a User-Agent names (RFC 9110, section 10.1.5), and nothing else of it: who signs in chooses the text. */
function productsOf(userAgent: string): string {
  const products = userAgent.match(/(?<![^ ])[A-Za-z]{2,20}\/\d{1,5}(?:\.\d{1,5}){0,3}(?![^ ])/g) ?? [];
  return products.slice(0, 4).join(' ') || 'unknown';
}
