// What the page uses of lean-qr 2.7.4 (static/vendor/lean-qr.js).
export function generate(text: string): { size: number; get(x: number, y: number): boolean };
