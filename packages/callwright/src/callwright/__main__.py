from callwright.cli import main

main()
