% What Octave's A \ b needs for a ready matrix: octave-cli lstsq.m FILE N DT_S, as lstsq.py.
1;
args = argv();
n = str2double(args{2});
dt = str2double(args{3});
file = fopen(args{1});
data = fread(file, [n, 7], "double");
fclose(file);
k = 2:n-1;
tau = 0.5 * (data(k, 2:4) + data(k - 1, 2:4));
w = data(k, 5:7);
d = (data(k + 1, 5:7) - data(k - 1, 5:7)) / (2 * dt);
u = w(:, 1); v = w(:, 2); r = w(:, 3);
o = zeros(n - 2, 1);
a = [d(:, 1), -v .* r, o, u, abs(u) .* u, o, o, o, o;
     u .* r, d(:, 2), o, o, o, v, abs(v) .* v, o, o;
     -u .* v, u .* v, d(:, 3), o, o, o, o, r, abs(r) .* r];
b = tau(:);
best = Inf;
for i = 1:3
  begin = cputime();
  theta = a \ b;
  best = min(best, cputime() - begin);
end
printf("%.17g ", best, theta);
printf("\n");
