import { pageFiles } from '../../pages/page-files.ts';
import type { Route } from '../../http/route.ts';
import { connectedPage } from './connected-page.ts';
import { invitePage } from './invite-page.ts';
import { emailChangePage, reactivationPage } from './own-account-pages.ts';
import { forgotPasswordPage, resendPage, signUpPage } from './request-pages.ts';
import { resetPage } from './reset-page.ts';
import { signInPage } from './sign-in-page.ts';
import { subscriptionPage, unsubscribePage } from './subscriber-pages.ts';
import { verifyPage } from './verify-page.ts';
import { webhookPortalPage } from './webhook-portal-page.ts';

/** Pages for people who have no program of their own. */
export const pages: readonly Route[] = [
  signInPage,
  signUpPage,
  verifyPage,
  resendPage,
  forgotPasswordPage,
  resetPage,
  invitePage,
  emailChangePage,
  reactivationPage,
  subscriptionPage,
  unsubscribePage,
  webhookPortalPage,
  connectedPage,
  ...pageFiles,
];
