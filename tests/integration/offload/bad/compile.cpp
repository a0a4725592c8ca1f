int work(int n) { return n + undeclared; }
int main() { return work(1); }
