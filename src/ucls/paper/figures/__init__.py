"""The figures of the paper: each declares its runs (`groups`) and makes its plots (`plots`)."""
