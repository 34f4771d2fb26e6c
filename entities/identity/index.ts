export { emailVerification } from './email-verification.ts';
export { passwordReset } from './password-reset.ts';
export { secondFactor } from './second-factor.ts';
export { session } from './session.ts';
export { user } from './user.ts';
