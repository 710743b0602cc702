"""Tables that explain results: each declares its runs (`groups`) and makes its rows (`HEADS`, `rows`)."""
