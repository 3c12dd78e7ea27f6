// The types of lean-qr 2.7.4 (static/vendor/lean-qr.js) that the page uses.
export function generate(text: string): { size: number; get(x: number, y: number): boolean };
