// Monaco, Framer Motion and react-remove-scroll make <style> elements at run time. Give them the
// nonce of the page's script, so that the page needs no `style-src-elem 'unsafe-inline'`.
const { nonce } = document.currentScript;
const createElement = document.createElement;
document.createElement = function (...args) {
  const element = createElement.apply(this, args);
  if (nonce && element instanceof HTMLStyleElement) element.nonce = nonce;
  return element;
};
