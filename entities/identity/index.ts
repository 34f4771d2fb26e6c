export { emailVerification } from './email-verification.ts';
export { passkey } from './passkey.ts';
export { passwordReset } from './password-reset.ts';
export { session } from './session.ts';
export { user } from './user.ts';
