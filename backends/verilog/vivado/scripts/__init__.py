"""The Tcl scripts of the folder `vivado`, which read all that they know of a design from settings.tcl."""
