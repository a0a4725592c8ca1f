// Nobody compiles this.
