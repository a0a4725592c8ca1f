int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
int main() { return work(10) == 0; }
